// The slide's stage: one pane with all layers, or panes side by side that move together.
import {check} from './api.js';
import {say} from './dom.js';
import {OutlineTool} from './outline_tool.js';
import {SlidePane} from './slide_pane.js';

const LIBRARY = '/openseadragon/openseadragon.js';
const LEAST_UM = 150;      // a finding is shown with at least this much around it,
const LEAST_PIXELS = 300;  // or so many pixels where the spacing is not known

// What tells that a viewer is under the hand.
const HANDS = [
  'canvas-press',
  'canvas-scroll',
  'canvas-key',
  'canvas-double-click',
  'navigator-click',
  'navigator-drag',
  'navigator-scroll',
];

export class SlideView {
  #host;
  #item;
  #place;
  #at;
  #panes = [];
  #leader = null;  // the viewer under the hand; the others follow it
  #outline = null;
  #opacities = new Map();
  #box = null;
  #rings = [];
  #failed = false;

  /**
   * item: as /api/items/N gives it; place(text, {y, x, pixels}): told at every move; at: where
   * another view of this item was, or null.
   */
  constructor(host, item, place, at) {
    this.#host = host;
    this.#item = item;
    this.#place = place;
    this.#at = at;
  }

  /** The part of the slide that is shown, for another view of this item. */
  get at() {
    return this.#panes[0]?.viewer.viewport.getBounds() ?? this.#at;
  }

  /** panes: [{title, layers}], each with the image first. Keeps the place of the panes before. */
  async show(panes) {
    if (!('OpenSeadragon' in window)) await check(LIBRARY);
    const before = this.at;
    this.close();
    this.#panes = panes.map(({title, layers}, index) => new SlidePane(this.#host, this.#item, {
                              title,
                              layers,
                              navigator: index === panes.length - 1,
                              failed: (url) => this.#tell(url),
                            }));
    this.#leader = this.#panes[0].viewer;
    this.setOpacities(this.#opacities);
    this.#panes.forEach((pane) => this.#link(pane));
    await Promise.all(this.#panes.map((pane) => pane.open()));
    if (before) this.#panes[0]?.viewer.viewport.fitBounds(before, true);
    this.#draw();
  }

  /** opacities: Map of layer name -> 0 to 1. */
  setOpacities(opacities) {
    this.#opacities = opacities;
    for (const pane of this.#panes)
      for (const [name, value] of opacities) pane.setOpacity(name, value);
  }

  goTo(finding) {
    const {mpp} = this.#item;
    this.#lead(this.#panes[0]);
    this.#panes[0].goTo(finding.box, mpp ? LEAST_UM / mpp : LEAST_PIXELS);
  }

  /** box: [y0, x0, y1, x1] or null; rings: closed outlines of [y, x]. */
  mark(box, rings) {
    this.#box = box;
    this.#rings = rings;
    this.#draw();
  }

  zoom(factor) {
    this.#lead(this.#panes[0]);
    this.#panes[0].viewer.viewport.zoomBy(factor);
  }

  fit() {
    this.#lead(this.#panes[0]);
    this.#panes[0].viewer.viewport.goHome();
  }

  /**
   * Starts an outline, or ends the one that is drawn; done(rings) is called with a finished one.
   */
  outline(done) {
    if (this.#outline) return this.cancelOutline();
    this.#outline = new OutlineTool(this.#panes, () => this.#draw(), (rings) => {
      this.cancelOutline();
      done(rings);
    });
    this.#host.classList.add('drawing');
  }

  get drawing() {
    return this.#outline;
  }

  cancelOutline() {
    this.#outline?.end();
    this.#outline = null;
    this.#host.classList.remove('drawing');
    this.#draw();
  }

  close() {
    this.#outline?.end();
    this.#outline = null;
    this.#host.classList.remove('drawing');
    for (const {viewer} of this.#panes) viewer.destroy();
    this.#panes = [];
    this.#host.replaceChildren();
  }

  #draw() {
    const marks = {box: this.#box, rings: this.#rings, open: this.#outline?.ring ?? []};
    for (const pane of this.#panes) pane.marks.show(marks);
  }

  #lead(pane) {
    this.#leader = pane?.viewer;
  }

  #link(pane) {
    const {viewer} = pane;
    for (const event of HANDS) {
      viewer.addHandler(event, () => this.#lead(pane));
    }
    viewer.addHandler('update-viewport', () => {
      if (viewer !== this.#leader) return;
      this.#follow(viewer);
      const [y, x] = pane.centre();
      this.#place(this.#words(y, x, pane.pixels()), {y, x, pixels: pane.pixels()});
    });
  }

  /** Only the leader moves others, so a follower's own move can't come back to it. */
  #follow(leader) {
    const centre = leader.viewport.getCenter(true);
    const zoom = leader.viewport.getZoom(true);
    for (const {viewer} of this.#panes) {
      if (viewer === leader) continue;
      viewer.viewport.panTo(centre, true);
      viewer.viewport.zoomTo(zoom, null, true);
    }
  }

  #words(y, x, pixels) {
    const place = `x ${Math.round(x)}, y ${Math.round(y)} px`;
    const {mpp} = this.#item;
    if (!mpp) return `${place} · ${pixels.toPrecision(2)} px a screen pixel · µm a pixel not known`;
    // By custom 0.25 µm a pixel is 40x.
    const um = pixels * mpp;
    const times = Number((10 / um).toPrecision(2));
    return `${place} · ${um.toPrecision(2)} µm a screen pixel, about ${times}×`;
  }

  async #tell(url) {
    if (this.#failed) return;  // the first says it; a broken file fails tile by tile
    this.#failed = true;
    try {
      await check(url);
    } catch (error) {
      say(error.message);
    }
  }
}
