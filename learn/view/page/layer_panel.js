// Switches, opacities and the colours of the layers.
import {element, swatch} from './dom.js';
import {isBase} from './panes.js';

const STEP = 0.1;
const FIRST = 0.45;

/** Which layers are in the picture, and how strong. The image itself always is. */
export class Layers {
  #states;
  #all = true;

  /** before: the layers of this image until now, whose switches are kept; or null. */
  constructor(layers, before = null) {
    const first = layers.find(({name}) => name === 'prediction') ??
        layers.find(({kind}) => kind === 'labels');
    this.#states = new Map(
        layers.filter((layer) => !isBase(layer))
            .map(
                (layer) =>
                    [layer.name,
                     {layer, on: layer === first || layer.name === 'lesions', opacity: FIRST},
    ]));
    if (!before) return;
    this.#all = before.all;
    for (const {layer, on, opacity} of before.states)
      if (this.#states.has(layer.name)) this.set(layer.name, {on, opacity});
  }

  get all() {
    return this.#all;
  }
  get states() {
    return [...this.#states.values()];
  }

  toggle() {
    this.#all = !this.#all;
  }
  set(name, change) {
    Object.assign(this.#states.get(name), change);
  }

  /** Every layer that is on, stronger or weaker. */
  step(direction) {
    for (const state of this.#states.values()) {
      if (state.on)
        state.opacity =
            Math.round(Math.max(0, Math.min(1, state.opacity + direction * STEP)) * 100) / 100;
    }
  }

  /**
   * Map of name -> opacity, 0 where a layer is off. `always`: names that a pane of their own
   * shows.
   */
  opacities(always = []) {
    const of = ({layer, on, opacity}) =>
        (this.#all && (on || always.includes(layer.name)) ? opacity : 0);
    return new Map(this.states.map((state) => [state.layer.name, of(state)]));
  }
}

function row({layer, on, opacity}, change) {
  const box = element('input', {type: 'checkbox', checked: on});
  box.addEventListener('change', () => change(layer.name, {on: box.checked}));
  const range = element('input', {
    type: 'range',
    min: 0,
    max: 1,
    step: 0.05,
    value: opacity,
    'aria-label': `Opacity of ${layer.title}`
  });
  range.addEventListener('input', () => change(layer.name, {opacity: Number(range.value)}));
  const legend = element(
      'ul', {className: 'legend'},
      ...layer.classes.map(({name, colour}) => element('li', {}, swatch(colour), name)));
  const head = element(
      'label', {}, box, layer.kind === 'probability' ? swatch(layer.classes[0].colour) : null,
      layer.title);
  return element(
      'fieldset', {'data-layer': layer.name}, head, range, layer.kind === 'labels' ? legend : null);
}

/** change(name, {on} or {opacity}). */
export function showLayers(host, layers, change) {
  const rows = layers.states.map((state) => row(state, change));
  host.replaceChildren(
      ...(rows.length ? rows : [element('p', {}, 'No prediction and no annotation.')]));
}
