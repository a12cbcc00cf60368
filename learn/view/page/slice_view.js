// The stage of a volume while outlines are drawn: one axial slice, or panes side by side that move
// together. It needs no WebGL.
import {element, say} from './dom.js';
import {OutlineTool} from './outline_tool.js';
import {isBase} from './panes.js';
import {SlicePane} from './slice_pane.js';
import {areasOf, pictureOf} from './slice_pixels.js';
import {SliceStore} from './slice_store.js';
import {lettersOf} from './volume_state.js';

const SHARE = 0.4;  // a finding fills this part of the slice,
const LEAST_MM = 60;
const AREA = 0.35;  // how strong the outlined voxels are over the image

const rounded = (value) => Math.round(value * 100) / 100;

function canvasOf(image) {
  const canvas = element('canvas', {width: image.width, height: image.height});
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

export class SliceView {
  #host;
  #item;
  #place;
  #drawings;
  #slices;
  #layout = [];
  #panes = [];
  #tool = null;
  #camera = {x: 0, y: 0, sx: 1, sy: 1, mm: 1};
  #mm = null;  // on a screen pixel
  #opacities = new Map();
  #shown = null;   // {z, pictures: Map of layer name -> canvas}, as it is on the screen
  #wanted;         // the slice that was asked for last
  #moving = null;  // {outline, rings}: a corner under the hand
  #resized;

  /** window: what is chosen now; set it, then call restate(). */
  window;

  /**
   * place(text, {z, y, x, mm}): told at every move. at: {z, y, x, mm} of another view of this item,
   * or null. drawings: {at(z), colourOf(class), add(z, rings), replace(z, outline, rings),
   * shown()}: the outlines; shown() is told of each slice.
   */
  constructor(host, item, place, at, drawings) {
    const [depth, height, width] = item.shape_zyx;
    this.#host = host;
    this.#item = item;
    this.#place = place;
    this.#drawings = drawings;
    this.#slices = new SliceStore(item);
    this.#wanted = Math.max(0, Math.min(depth - 1, Math.floor(at?.z ?? depth / 2)));
    Object.assign(this.#camera, {x: at?.x ?? width / 2, y: at?.y ?? height / 2});
    this.#mm = at?.mm ?? null;
    this.window = [item.window.low, item.window.high];
    this.#resized = new ResizeObserver(() => this.#redraw());
    this.#resized.observe(host);
  }

  /** Where this view is, for another view of this item. */
  get at() {
    const {x, y} = this.#camera;
    return {z: this.z + 0.5, y, x, mm: this.#mm};
  }

  /** The slice that is shown, from 0. */
  get z() {
    return this.#shown?.z ?? this.#wanted;
  }

  get drawing() {
    return this.#tool;
  }

  /** panes: [{title, layers}]. Keeps the place. */
  async show(panes) {
    this.#clear();
    this.#layout = panes;
    this.#panes = panes.map(({title}, index) => this.#pane(title, index));
    this.#tool = new OutlineTool(this.#panes, () => this.#drawLines(), ([ring]) => {
      this.#tool.clear();
      this.#drawings.add(this.z, [ring.map((corner) => corner.map(rounded))]);
    });
    // Planes among others are small: here the slice fills the stage.
    this.#mm = Math.min(this.#mm ?? Infinity, this.#wholeMm());
    await this.goToSlice(this.#wanted);
    this.#panes[0]?.focus();
  }

  setOpacities(opacities) {
    this.#opacities = new Map(opacities);
    this.restate();
  }

  /** The same slice again, after another window or opacity. */
  restate() {
    if (this.#panes.length) this.step(0);
  }

  /** Shows a slice once all its layers are there, so that lines never lie over another one. */
  async goToSlice(z) {
    if (z < 0 || z >= this.#item.shape_zyx[0]) return;
    if (this.#tool?.ring.length && z !== this.z) {
      say('Close the outline first (Enter), or take its corners back (Escape).', true);
      return;
    }
    this.#wanted = z;
    const layers = this.#visible();
    const voxels = await Promise.all(layers.map((layer) => this.#slices.get(layer, z)));
    if (z !== this.#wanted || !this.#panes.length) return;
    const width = this.#item.shape_zyx[2];
    const pictures = layers.map(
        (layer, index) =>
            [layer.name,
             canvasOf(pictureOf(layer, voxels[index], width, this.#windowOf(layer))),
    ]);
    const base = layers.findIndex(isBase);
    this.#shown = {z, pictures: new Map(pictures), values: base < 0 ? null : voxels[base]};
    this.refresh();
    this.#say();
    this.#drawings.shown();
    for (const next of [z - 1, z + 1]) {
      if (next < 0 || next >= this.#item.shape_zyx[0]) continue;
      for (const layer of layers) this.#slices.get(layer, next).catch(() => {});
    }
  }

  step(slices) {
    return this.goToSlice(this.#wanted + slices).catch((error) => say(error.message));
  }

  goTo(finding) {
    const [z, y, x] = finding.centre;
    Object.assign(this.#camera, {x: x + 0.5, y: y + 0.5});
    const mm = Math.max(LEAST_MM, 2 * (finding.radius_mm ?? 0)) / SHARE / this.#edge();
    this.#mm = Math.min(mm, this.#wholeMm());
    return this.step(Math.round(z) - this.#wanted);
  }

  /** Findings of volumes are shown by their own layers. */
  mark() {}

  zoom(factor) {
    this.#mm /= factor;
    this.#redraw();
  }

  fit() {
    const [, height, width] = this.#item.shape_zyx;
    Object.assign(this.#camera, {x: width / 2, y: height / 2});
    this.#mm = this.#wholeMm();
    this.#redraw();
  }

  /** The outlines have changed. */
  refresh() {
    this.#drawPictures();
    this.#drawLines();
  }

  /** Takes back the line that is being drawn; false where there is none. */
  cancelOutline() {
    if (!this.#tool?.ring.length) return false;
    this.#tool.clear();
    return true;
  }

  close() {
    this.#resized.disconnect();
    this.#clear();
  }

  #clear() {
    this.#tool?.end();
    this.#tool = null;
    this.#panes = [];
    this.#host.replaceChildren();
  }

  #pane(title, index) {
    const letters = element(
        'div', {className: 'letters', 'aria-hidden': 'true'},
        element(
            'div', {className: 'plane'},
            ...Object.entries(lettersOf(this.#item, 'axial'))
                .map(([edge, letter]) => element('span', {className: edge}, letter))));
    const label = `${this.#item.id}, axial slice${title ? `, ${title}` : ''}`;
    const pane = new SlicePane(this.#host, {title, label}, this.#camera, {
      moved: () => this.#redraw(),
      stepped: (slices) => this.step(slices),
      zoomed: (factor, place) => this.#zoomAt(factor, place),
      pointed: (place) => this.#say(place),
      dragged: (corner, place, ended) => this.#drag(corner, place, ended),
    });
    this.#host.children[index].append(letters);
    return pane;
  }

  /** Layers that some pane shows. */
  #visible() {
    const strong = (layer) => isBase(layer) || (this.#opacities.get(layer.name) ?? 0) > 0;
    return this.#item.layers.filter(strong);
  }

  #windowOf(layer) {
    const {low, high} = layer.window ?? this.#item.window;
    return isBase(layer) ? this.window : [low, high];
  }

  /** The outlines of the slice, with the corner under the hand where it is now. */
  #lines() {
    const {colourOf, at} = this.#drawings;
    return at(this.z).map(
        (outline, index) => ({
          rings: this.#moving?.outline === index ? this.#moving.rings : outline.rings,
          colour: colourOf(outline.class),
        }));
  }

  #drawPictures() {
    if (!this.#shown) return;
    const [, height, width] = this.#item.shape_zyx;
    const areas = {canvas: canvasOf(areasOf(this.#lines(), width, height)), opacity: AREA};
    this.#scale();
    this.#panes.forEach((pane, index) => {
      const pictures = this.#layout[index].layers.map(
          (layer) => ({
            canvas: this.#shown.pictures.get(layer.name),
            opacity: isBase(layer) ? 1 : this.#opacities.get(layer.name) ?? 0,
          }));
      pane.showPictures([...pictures.filter(({canvas}) => canvas), areas]);
    });
  }

  #drawLines() {
    const lines = this.#lines();
    for (const pane of this.#panes) pane.showOutlines(lines, this.#tool?.ring ?? []);
  }

  #redraw() {
    if (!this.#shown) return;
    this.#scale();
    for (const pane of this.#panes) pane.draw();
    this.#say();
  }

  #scale() {
    const [, y, x] = this.#item.spacing_zyx_mm;
    Object.assign(this.#camera, {sx: x / this.#mm, sy: y / this.#mm, mm: this.#mm});
  }

  #zoomAt(factor, [y, x]) {
    // The place under the pointer stays where it is.
    this.#camera.x = x + (this.#camera.x - x) / factor;
    this.#camera.y = y + (this.#camera.y - y) / factor;
    this.zoom(factor);
  }

  /** The shorter edge of a pane, in screen pixels. */
  #edge() {
    return Math.min(...this.#panes[0].size);
  }

  /** Millimetres a screen pixel with which the whole slice is seen. */
  #wholeMm() {
    const [, height, width] = this.#item.shape_zyx;
    const [, y, x] = this.#item.spacing_zyx_mm;
    const [across, down] = this.#panes[0].size;
    return 1.05 * Math.max((width * x) / across, (height * y) / down);
  }

  #drag({outline, ring, index}, place, ended) {
    const rings = this.#drawings.at(this.z)[outline].rings.map((corners) => corners.slice());
    rings[ring][index] = place.map(rounded);
    this.#moving = ended ? null : {outline, rings};
    if (ended) this.#drawings.replace(this.z, outline, rings);
    this.refresh();
  }

  #say(pointed) {
    const [depth, height, width] = this.#item.shape_zyx;
    const {unit = '', stored_per_unit: perUnit = 1} = this.#item;
    const [y, x] = (pointed ?? []).map(Math.floor);
    const inside = y >= 0 && x >= 0 && y < height && x < width;
    const value = inside ? this.#shown?.values?.[y * width + x] : undefined;
    const under = value === undefined ? '' : ` · ${value / perUnit} ${unit} under the pointer`;
    this.#place(`slice ${this.z + 1} of ${depth} from below${under}`, this.at);
  }
}
