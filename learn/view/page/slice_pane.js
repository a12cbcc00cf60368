// One axial slice on a canvas: its layers, the outlines over them, and the hand that moves and
// draws.
import {element} from './dom.js';
import {marksOver, openLine, shape} from './marks.js';
import {ScaleBar} from './scale_bar.js';

const STILL = 4;   // a press that moves no further than so many screen pixels is a click
const NEAR = 8;    // a corner is taken hold of from so far
const NOTCH = 40;  // of the wheel's way, for one slice

const MICROMETRES = 1000;  // a millimetre

const pathOf = (rings) =>
    rings.map((ring) => `M${ring.map(([y, x]) => `${x} ${y}`).join('L')}Z`).join('');

export class SlicePane {
  #canvas;
  #marks;
  #bar;
  #camera;
  #acts;
  #pictures = [];  // [{canvas, opacity}], the image first
  #corners = [];   // [{y, x, outline, ring, index}]
  #listeners = null;
  #pressed = null;
  #turned = 0;

  /**
   * camera: {x, y, sx, sy, mm}, shared by panes side by side: the place in the middle, voxels;
   * screen pixels a voxel; millimetres a screen pixel. acts: moved(), stepped(slices),
   * zoomed(factor, [y, x]), pointed([y, x]), dragged(corner, [y, x], ended).
   */
  constructor(host, {title, label}, camera, acts) {
    this.#camera = camera;
    this.#acts = acts;
    this.#canvas =
        element('canvas', {className: 'slice', tabIndex: 0, role: 'img', 'aria-label': label});
    const frame = element(
        'div', {className: 'pane dark'}, this.#canvas,
        title ? element('h3', {className: 'pane-title'}, title) : null);
    host.append(frame);
    this.#marks = marksOver(frame);
    this.#bar = new ScaleBar(frame, MICROMETRES);
    this.#wire();
  }

  focus() {
    this.#canvas.focus({preventScroll: true});
  }

  /** [width, height] on the screen. */
  get size() {
    const {width, height} = this.#canvas.getBoundingClientRect();
    return [width, height];
  }

  /** pictures: [{canvas, opacity}] of one size, the image first. */
  showPictures(pictures) {
    this.#pictures = pictures;
    this.draw();
  }

  /** outlines: [{rings, colour (null: it erases)}]; open: the line being drawn. */
  showOutlines(outlines, open) {
    this.#corners = outlines.flatMap(
        ({rings}, outline) => rings.flatMap(
            (corners, ring) => corners.map(([y, x], index) => ({y, x, outline, ring, index}))));
    const lines = outlines.flatMap(({rings, colour}) => {
      const d = pathOf(rings);
      const line = shape('path', {d, class: `drawn${colour ? '' : ' erases'}`});
      if (colour) line.style.stroke = colour;
      return [shape('path', {d, class: 'drawn under'}), line];
    });
    this.#marks.replaceChildren(...lines, ...openLine(open));
    this.draw();
  }

  draw() {
    const ratio = window.devicePixelRatio;
    const [width, height] = this.size;
    Object.assign(
        this.#canvas, {width: Math.round(width * ratio), height: Math.round(height * ratio)});
    const {x, y, sx, sy, mm} = this.#camera;
    const [left, top] = [width / 2 - x * sx, height / 2 - y * sy];
    const context = this.#canvas.getContext('2d');
    context.setTransform(ratio * sx, 0, 0, ratio * sy, ratio * left, ratio * top);
    // Voxels as they are; only where they are smaller than the screen's pixels their mean.
    context.imageSmoothingEnabled = Math.min(sx, sy) < 1;
    for (const {canvas, opacity} of this.#pictures) {
      context.globalAlpha = opacity;
      if (opacity > 0) context.drawImage(canvas, 0, 0);
    }
    this.#marks.setAttribute('transform', `matrix(${sx} 0 0 ${sy} ${left} ${top})`);
    this.#bar.update(mm);
  }

  /** As OutlineTool wants it: click([y, x]) in voxels, close(). */
  listen(click, close) {
    this.#listeners = {click, close};
    return () => this.#listeners = null;
  }

  #placeAt({offsetX, offsetY}) {
    const {x, y, sx, sy} = this.#camera;
    const [width, height] = this.size;
    return [y + (offsetY - height / 2) / sy, x + (offsetX - width / 2) / sx];
  }

  #cornerAt(event) {
    const [y, x] = this.#placeAt(event);
    const {sx, sy} = this.#camera;
    const away = (corner) => Math.hypot((corner.x - x) * sx, (corner.y - y) * sy);
    return this.#corners.reduce(
        (best, corner) => (away(corner) < (best ? away(best) : NEAR) ? corner : best), null);
  }

  #wire() {
    const on = (name, act) => this.#canvas.addEventListener(name, act);
    on('pointerdown', (event) => this.#press(event));
    on('pointermove', (event) => this.#move(event));
    on('pointerup', (event) => this.#release(event));
    on('pointercancel', () => this.#pressed = null);
    on('dblclick', () => this.#listeners?.close());
    on('wheel', (event) => this.#wheel(event));
  }

  #press(event) {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pressed = {
      start: [event.clientX, event.clientY],
      from: {...this.#camera},
      corner: this.#cornerAt(event),
      far: false
    };
  }

  #move(event) {
    this.#acts.pointed(this.#placeAt(event));
    const pressed = this.#pressed;
    if (!pressed) {
      this.#canvas.classList.toggle('holds', Boolean(this.#cornerAt(event)));
      return;
    }
    const [dx, dy] = [event.clientX - pressed.start[0], event.clientY - pressed.start[1]];
    pressed.far ||= Math.hypot(dx, dy) > STILL;
    if (!pressed.far) return;
    if (pressed.corner) return this.#acts.dragged(pressed.corner, this.#placeAt(event), false);
    const {x, y, sx, sy} = pressed.from;
    Object.assign(this.#camera, {x: x - dx / sx, y: y - dy / sy});
    this.#acts.moved();
  }

  #release(event) {
    const pressed = this.#pressed;
    this.#pressed = null;
    if (!pressed) return;
    if (!pressed.far) return this.#listeners?.click(this.#placeAt(event));
    if (pressed.corner) this.#acts.dragged(pressed.corner, this.#placeAt(event), true);
  }

  #wheel(event) {
    event.preventDefault();
    if (event.ctrlKey) {
      return this.#acts.zoomed(event.deltaY < 0 ? 1.15 : 1 / 1.15, this.#placeAt(event));
    }
    // A touchpad's many small steps make one.
    this.#turned += event.deltaY;
    const slices = Math.trunc(this.#turned / NOTCH);
    this.#turned -= slices * NOTCH;
    if (slices) this.#acts.stepped(-Math.sign(slices));
  }
}
