// Draws one closed outline: a click sets a corner, double click or Enter closes it. Dragging still
// moves the image.

const LEAST_CORNERS = 3;

export class OutlineTool {
  ring = [];
  #ends = [];
  #changed;
  #done;

  /**
   * surfaces: what is drawn on; each has listen(click, close), which calls click([y, x]) and
   * close(), and gives a function that ends it. changed(): the line has another corner;
   * done(rings): closed, [[[y, x], …]] in pixels of the image.
   */
  constructor(surfaces, changed, done) {
    this.#changed = changed;
    this.#done = done;
    this.#ends = surfaces.map(
        (surface) => surface.listen((corner) => this.#add(corner), () => this.close()));
  }

  /** Closes the outline; false with fewer than three corners. */
  close() {
    if (this.ring.length < LEAST_CORNERS) return false;
    this.#done([this.ring]);
    return true;
  }

  undo() {
    this.ring.pop();
    this.#changed();
  }

  /** Begins anew. */
  clear() {
    this.ring = [];
    this.#changed();
  }

  end() {
    for (const end of this.#ends) end();
  }

  #add(corner) {
    const last = this.ring.at(-1);
    // The second click of a double click stands on the first.
    if (last && Math.hypot(last[0] - corner[0], last[1] - corner[1]) < 1e-6) return;
    this.ring.push(corner);
    this.#changed();
  }
}
