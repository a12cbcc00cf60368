// The keys of the page. One table: what is pressed, what is said in the help, what is done.
import {byId, element} from './dom.js';

const shown = (keys) =>
    keys.flatMap((key, i) => (i ? [' ', element('kbd', {}, key)] : [element('kbd', {}, key)]));
const inText = (target) =>
    target?.closest?.('input:not([type=range]):not([type=checkbox]), textarea, select');

/**
 * table: [{keys: ['j'], help: 'next finding', act: () => …}]; act gets the key.
 * Gives a listener, which a frame's window needs too: keys pressed there do not reach this
 * document.
 */
export function listenTo(table) {
  const acts = new Map(table.flatMap(({keys, act}) => keys.map((key) => [key, act])));
  const listener = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || inText(event.target)) return;
    const act = acts.get(event.key);
    if (!act || byId('help').open || act(event.key) === false) return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('keydown', listener, true);
  byId('help-keys')
      .replaceChildren(...table.filter(({help}) => help)
                           .flatMap(
                               ({keys, help, label}) =>
                                   [element('dt', {}, ...shown(label ?? keys)),
                                    element('dd', {}, help),
  ]));
  return listener;
}
