// The outlines of one volume, by slice, as the server has them; what was done can be undone.
import * as api from './api.js';

export class SliceOutlines {
  #item;
  #slices;
  #undo = [];                 // [{z, outlines}]: what a slice had before
  #last = Promise.resolve();  // writes go one after the other, so that the last one stands

  /** slices: {z: [{class, rings, reviewer, time}]} */
  constructor(item, slices) {
    this.#item = item;
    this.#slices = new Map(Object.entries(slices).map(([z, outlines]) => [Number(z), outlines]));
  }

  at(z) {
    return this.#slices.get(z) ?? [];
  }

  /** Slices with outlines, from below. */
  get slices() {
    return [...this.#slices].filter(([, {length}]) => length).map(([z]) => z).sort((a, b) => a - b);
  }
  get count() {
    return [...this.#slices.values()].reduce((sum, {length}) => sum + length, 0);
  }
  get canUndo() {
    return this.#undo.length > 0;
  }

  /** The nearest other slice with outlines, the lower of two; undefined where there is none. */
  nearest(z) {
    const others = this.slices.filter((other) => other !== z);
    return others.sort((a, b) => Math.abs(a - z) - Math.abs(b - z))[0];
  }

  /** Puts outlines in place of those of a slice. */
  change(z, outlines) {
    this.#undo.push({z, outlines: this.at(z)});
    return this.#put(z, outlines);
  }

  /** Takes the last change back; gives its slice, or undefined where there is none. */
  async undo() {
    const last = this.#undo.pop();
    if (last) await this.#put(last.z, last.outlines);
    return last?.z;
  }

  /** Shown at once; where the server does not take it, it is as before. */
  #put(z, outlines) {
    const before = this.at(z);
    this.#slices.set(z, outlines);
    const done = this.#last.then(async () => {
      try {
        const stored = await api.saveOutlines(this.#item.n, z, outlines);
        if (this.at(z) === outlines) this.#slices.set(z, stored);
      } catch (error) {
        if (this.at(z) === outlines) this.#slices.set(z, before);
        throw error;
      }
    });
    this.#last = done.catch(() => {});
    return done;
  }
}
