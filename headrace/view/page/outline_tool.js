// Draws one closed outline: a click sets a corner, double click or Enter closes it. Dragging still
// moves the slide.

const LEAST_CORNERS = 3;

export class OutlineTool {
  ring = [];
  #ends = [];
  #changed;
  #done;

  /**
   * changed(): the line has another corner; done(rings): closed, [[[y, x], …]] in level-0 pixels.
   */
  constructor(panes, changed, done) {
    this.#changed = changed;
    this.#done = done;
    for (const pane of panes) {
      this.#listen(pane.viewer, 'canvas-click', (event) => {
        event.preventDefaultAction = true;
        if (event.quick) this.#add(pane.pixelAt(event.position));
      });
      this.#listen(pane.viewer, 'canvas-double-click', (event) => {
        event.preventDefaultAction = true;
        this.close();
      });
    }
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

  #listen(viewer, event, handler) {
    viewer.addHandler(event, handler);
    this.#ends.push(() => viewer.removeHandler(event, handler));
  }
}
