// The chosen finding: what it is, and the buttons that judge it.
import {element, swatch} from './dom.js';
import {verdictText} from './rows.js';

const button = (text, key, act, pressed) => {
  const made =
      element('button', {'aria-pressed': pressed}, text, key ? element('kbd', {}, key) : null);
  made.addEventListener('click', act);
  return made;
};

function facts(finding) {
  const {verdict} = finding;
  const by = verdict?.reviewer ? ` by ${verdict.reviewer}` : '';
  const time = verdict?.time ? `, ${new Date(verdict.time).toLocaleString('en-GB')}` : '';
  return [
    element('h2', {id: 'verdict-title'}, finding.title),
    finding.why ? element('p', {}, finding.why) : null,
    element(
        'p', {className: `state ${verdict?.verdict ?? 'open'}`, id: 'verdict-state'},
        verdictText(verdict) + by + time),
  ];
}

function classButtons(finding, classes, judge) {
  return classes.map(({name, colour}, index) => {
    const made = button(
        name, index < 9 ? String(index + 1) : null, () => judge({verdict: 'reclass', class: name}),
        finding.verdict?.verdict === 'reclass' && finding.verdict.class === name);
    made.prepend(swatch(colour));
    made.disabled = name === finding.class;
    return made;
  });
}

function outlineButtons(finding, {drawing, canDraw, draw, judge}) {
  if (!canDraw) return [];
  const remove = finding.verdict?.outline?.length ?
      button('Remove outline', null, () => judge({outline: null})) :
      null;
  return [button(drawing ? 'Stop drawing' : 'Draw outline', 'd', draw, Boolean(drawing)), remove];
}

/** acts: judge(change of the verdict), remove(), draw(), drawing, canDraw, classes. */
export function showVerdict(host, finding, acts) {
  host.hidden = !finding;
  if (!finding) return host.replaceChildren();
  const {judge, remove, classes} = acts;
  const now = finding.verdict?.verdict;
  const comment =
      element('input', {type: 'text', value: finding.verdict?.comment ?? '', maxLength: 500});
  comment.addEventListener('change', () => judge({comment: comment.value}));
  const group = (label, ...nodes) => nodes.length ?
      element('div', {className: 'buttons', role: 'group', 'aria-label': label}, ...nodes) :
      '';
  host.replaceChildren(
      ...facts(finding).filter(Boolean),
      group(
          'Verdict', button('Accept', 'a', () => judge({verdict: 'accept'}), now === 'accept'),
          button('Reject', 'r', () => judge({verdict: 'reject'}), now === 'reject'),
          now ? button('Remove', 'x', remove) : null),
      group('Other class', ...classButtons(finding, classes, judge)),
      group('Outline', ...outlineButtons(finding, acts)),
      element('label', {}, 'Comment ', comment),
      element(
          'p', {className: 'hint', hidden: !acts.drawing},
          'Click sets a corner, double click or Enter closes the outline, ' +
              'Backspace takes a corner back, Escape stops.'),
  );
}
