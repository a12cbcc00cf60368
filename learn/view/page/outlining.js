// Drawing on slices: joins the outlines of a volume, the view on which they are drawn, and their
// panel.
import * as api from './api.js';
import {byId, say} from './dom.js';
import {showOutlines} from './outline_panel.js';
import {SliceOutlines} from './slice_outlines.js';

export class Outlining {
  #item;
  #outlines;
  #chosen;
  #page;

  /**
   * slices: as the server has them. page: {view() (a SliceView, or null while the planes are
   * shown), lesion() (the chosen finding), open(z) (a slice to draw on), toggle()}.
   */
  constructor(item, slices, page) {
    this.#item = item;
    this.#outlines = new SliceOutlines(item, slices);
    this.#chosen = this.#classes.at(-1)?.name;
    this.#page = page;
  }

  /** Tells the view where to keep and find what is drawn. */
  get drawings() {
    return {
      at: (z) => this.#outlines.at(z),
      colourOf: (name) => this.#colourOf(name),
      shown: () => this.show(),
      add: (z, rings) => this.#add(z, this.#chosen, rings),
      replace: (z, index, rings) => this.#change(
          z,
          this.#outlines.at(z).map(
              (outline, at) => (at === index ? {class: outline.class, rings} : outline))),
    };
  }

  show() {
    const view = this.#page.view();
    showOutlines(byId('outlines'), {
      outlines: this.#outlines,
      drawing: Boolean(view),
      z: view?.z,
      lesion: this.#page.lesion(),
      classes: this.#classes,
      chosen: this.#chosen,
      erases: this.#item.erases,
      colourOf: (name) => this.#colourOf(name),
      choose: (name) => this.#chosen = name,
      remove: (index) => this.#change(view.z, this.#outlines.at(view.z).toSpliced(index, 1)),
      takeOver: () => this.takeOver(),
      copy: () => this.copy(),
      undo: () => this.undo(),
      goToSlice: (z) => this.#page.open(z),
      toggle: () => this.#page.toggle(),
    });
  }

  /** The contours of the chosen lesion on this slice, as an outline of its class. */
  takeOver() {
    return this.#guarded(async () => {
      const lesion = this.#page.lesion();
      const z = this.#page.view()?.z;
      if (!lesion) return say('Choose a lesion of the list first.', true);
      const rings = await api.contours(this.#item.n, lesion, z);
      if (!rings.length) return say(`Lesion ${lesion.number} is not on this slice.`, true);
      const name = lesion.verdict?.class ?? lesion.class;
      await this.#add(z, name || this.#chosen, rings);
    });
  }

  /** The outlines of the nearest slice that has some, on this one too. */
  copy() {
    const z = this.#page.view()?.z;
    const from = this.#outlines.nearest(z);
    if (from === undefined) return undefined;
    const copied = this.#outlines.at(from).map(({class: name, rings}) => ({class: name, rings}));
    return this.#change(z, [...this.#outlines.at(z), ...copied]);
  }

  undo() {
    return this.#guarded(async () => {
      const z = await this.#outlines.undo();
      if (z !== undefined && z !== this.#page.view()?.z) await this.#page.open(z);
    });
  }

  get #classes() {
    return this.#item.layers.find(({name}) => name === 'prediction')?.classes ?? [];
  }

  #colourOf(wanted) {
    return this.#classes.find(({name}) => name === wanted)?.colour ?? null;
  }

  #add(z, name, rings) {
    return this.#change(z, [...this.#outlines.at(z), {class: name, rings}]);
  }

  #change(z, outlines) {
    return this.#guarded(() => this.#outlines.change(z, outlines));
  }

  /** What goes wrong is said; the page shows what holds then. */
  async #guarded(act) {
    try {
      const done = act();
      this.#refresh();
      await done;
    } catch (error) {
      say(error.message);
    }
    this.#refresh();
  }

  #refresh() {
    this.#page.view()?.refresh();
    this.show();
  }
}
