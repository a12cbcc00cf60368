// Slices of a volume's layers, as they come from the server: each asked for once, the last ones
// kept.
import * as api from './api.js';

const MOST = 96;

export class SliceStore {
  #item;
  #kept = new Map();  // 'layer z' -> promise of the voxels

  constructor(item) {
    this.#item = item;
  }

  /** A promise of the stored values of a slice, row by row. */
  get(layer, z) {
    const key = `${z} ${layer.name}`;
    const known = this.#kept.get(key) ?? api.slice(this.#item.n, layer, z);
    known.catch(() => this.#kept.delete(key));
    this.#kept.delete(key);  // the newest stands last
    this.#kept.set(key, known);
    for (const oldest of [...this.#kept.keys()].slice(0, -MOST)) this.#kept.delete(oldest);
    return known;
  }
}
