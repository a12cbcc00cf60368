// Outlines on slices: what is drawn with, and what is there.
import {element, swatch} from './dom.js';

const button = (text, key, act, enabled = true) => {
  const made = element('button', {disabled: !enabled}, text, key ? element('kbd', {}, key) : null);
  made.addEventListener('click', act);
  return made;
};

function classChoice(name, colour, label, {chosen, choose}) {
  const input =
      element('input', {type: 'radio', name: 'drawn-class', value: name, checked: name === chosen});
  input.addEventListener('change', () => choose(name));
  return element('label', {}, input, swatch(colour ?? 'transparent'), label);
}

const choices = (acts) => element(
    'fieldset', {className: 'choices'}, element('legend', {}, 'Draw'),
    ...acts.classes.map(({name, colour}) => classChoice(name, colour, name, acts)),
    classChoice(acts.erases, null, `erase (${acts.erases})`, acts));

function outlineRow(outline, index, {colourOf, remove, erases}) {
  const name = outline.class === erases ? 'erased' : outline.class;
  const made = element('button', {'aria-label': `Remove outline ${index + 1}, ${name}`}, '×');
  made.addEventListener('click', () => remove(index));
  return element('li', {}, swatch(colourOf(outline.class) ?? 'transparent'), name, made);
}

function sliceButton(z, {outlines, goToSlice}) {
  const {length} = outlines.at(z);
  return button(`${z + 1}${length > 1 ? ` (${length})` : ''}`, null, () => goToSlice(z));
}

const group = (label, ...nodes) =>
    element('div', {className: 'buttons', role: 'group', 'aria-label': label}, ...nodes);

function drawingNodes(acts) {
  const {outlines, z, lesion, takeOver, copy, undo} = acts;
  const own = outlines.at(z);
  const nearest = outlines.nearest(z);
  return [
    choices(acts),
    group(
        'Change', button('Undo', 'u', undo, outlines.canUndo),
        button('Take over lesion', 't', takeOver, Boolean(lesion)),
        button(
            nearest === undefined ? 'Copy outlines' : `Copy from slice ${nearest + 1}`, 'c', copy,
            nearest !== undefined)),
    element('h3', {}, own.length ? `Slice ${z + 1}` : `Slice ${z + 1}: no outline`),
    element(
        'ol', {className: 'drawn-list'},
        ...own.map((outline, index) => outlineRow(outline, index, acts))),
    element(
        'p', {className: 'hint'},
        'Click sets a corner, double click or Enter closes, Backspace takes a corner back. Drag a ' +
            'corner to move it. The wheel, or ↑ and ↓, go through the slices.'),
  ];
}

/**
 * acts: outlines (SliceOutlines), drawing, z, lesion (the chosen one), classes, chosen, erases,
 * colourOf(class), choose(class), remove(index), takeOver(), copy(), undo(), goToSlice(z),
 * toggle(). null hides it.
 */
export function showOutlines(host, acts) {
  host.hidden = !acts;
  if (!acts) return host.replaceChildren();
  const {outlines, drawing, toggle} = acts;
  const {slices, count} = outlines;
  const several = (number, word) => `${number} ${word}${number === 1 ? '' : 's'}`;
  const total = count ? `${several(count, 'outline')} on ${several(slices.length, 'slice')}` :
                        'No outline yet.';
  host.replaceChildren(
      element('h2', {id: 'outlines-title'}, 'Outlines'),
      ...(drawing ? drawingNodes(acts) : []),
      element('p', {id: 'outlines-count'}, total),
      group('Slices with outlines', ...slices.map((z) => sliceButton(z, acts))),
      button(drawing ? 'Back to the planes' : 'Draw outlines', 'd', toggle),
  );
}
