// The stage of a volume: Neuroglancer in a frame of the same origin.
import {check, volumePath} from './api.js';
import {element} from './dom.js';
import {dimensionsOf, layerStates, layoutOf, lettersOf, PLANES, scaleOf} from './volume_state.js';

const CLIENT = '/neuroglancer/index.html';
const FRAME = '/assets/planes.html';
// A finding fills this part of a plane.
const SHARE = 0.4;
const LEAST_MM = 30;
const LOOK = {
  crossSectionBackgroundColor: '#000000',
  showAxisLines: true,
  showScaleBar: true,
  showSlices: false,
  showDefaultAnnotations: false
};

const hashOf = (state) => encodeURIComponent(JSON.stringify(state));

export class VolumeView {
  #host;
  #item;
  #place;
  #at;
  #keys;
  #frame = null;
  #panes = [];
  #opacities = new Map();
  #untold = {};
  #closed = false;

  /** plane and window: what is chosen now; set them, then call show() or restate(). */
  plane = 'all';
  window;

  /**
   * place(text, {z, y, x}): told once a plane is shown. at: {z, y, x, mm} of another view of this
   * item, or null. keys: the page's key listener, which the frame needs too.
   */
  constructor(host, item, place, at, keys) {
    this.#host = host;
    this.#item = item;
    this.#place = place;
    this.#at = at;
    this.#keys = keys;
    this.window = [item.window.low, item.window.high];
  }

  /** Where this view is, for another view of this item: voxels, and mm a screen pixel. */
  get at() {
    const viewer = this.#frame?.contentWindow.viewer;
    if (viewer?.position.value.length !== 3) return this.#at;
    const [x, y, z] = viewer.position.value;
    const scale = viewer.state.toJSON().crossSectionScale;
    return {z, y, x, mm: scale ? scale * Math.min(...this.#item.spacing_zyx_mm) : null};
  }

  /** panes: [{title, layers}]. Keeps the place and zoom of before. */
  async show(panes) {
    this.#panes = panes;
    if (this.#frame) {
      this.#letters();
      return this.restate();
    }
    await check(`${volumePath(this.#item.n, this.#item.layers[0])}/info`);
    await check(CLIENT);
    if (this.#closed) return;
    const position = this.#at ? [this.#at.x, this.#at.y, this.#at.z] : this.#middle();
    const state = {
      ...LOOK,
      dimensions: dimensionsOf(this.#item),
      position,
      crossSectionScale: this.#at?.mm ? scaleOf(this.#item, this.#at.mm, 1) :
                                        this.#scale(this.#wholeMm()),
      layers: this.#layers(),
      layout: this.#layout()
    };
    this.#frame =
        element('iframe', {title: `${this.#item.id}, planes`, src: `${FRAME}#!${hashOf(state)}`});
    this.#frame.addEventListener('load', () => this.#join());
    this.#untold = {};  // the first state has it all
    this.#host.replaceChildren(this.#frame);
    this.#letters();
    this.#say(position);
  }

  /**
   * Once the frame stands: keys pressed in it are the page's; its moves and the value under the
   * pointer are told.
   */
  async #join() {
    const frame = this.#frame;
    frame?.contentWindow.addEventListener('keydown', this.#keys, true);
    while (frame && frame === this.#frame && !frame.contentWindow.viewer) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    if (!frame || frame !== this.#frame) return;
    if (Object.keys(this.#untold).length) this.#tell({});
    const {position, layerSelectedValues} = frame.contentWindow.viewer;
    const tell = () => this.#say([...position.value], layerSelectedValues.toJSON().image?.value);
    position.changed.add(tell);
    layerSelectedValues.changed.add(tell);
  }

  setOpacities(opacities) {
    this.#opacities = new Map(opacities);
    this.restate();
  }

  /**
   * Layers again, after another window or opacity; the panes name them, so these are told with
   * them.
   */
  restate() {
    this.#tell({layers: this.#layers(), layout: this.#layout()});
  }

  goTo(finding) {
    const [z, y, x] = finding.centre;
    // Places count from voxels' corners, a voxel's middle is half a voxel further.
    const position = [x + 0.5, y + 0.5, z + 0.5];
    const mm = Math.max(LEAST_MM, 2 * (finding.radius_mm ?? 0)) / SHARE;
    this.#tell({position, crossSectionScale: this.#scale(Math.min(mm, this.#wholeMm()))});
    this.#say(position);
  }

  /** Findings of volumes are shown by their own layers. */
  mark() {}

  zoom(factor) {
    const now = this.#frame?.contentWindow.viewer?.state.toJSON().crossSectionScale ??
        this.#scale(this.#wholeMm());
    this.#tell({crossSectionScale: now / factor});
  }

  fit() {
    this.#tell({position: this.#middle(), crossSectionScale: this.#scale(this.#wholeMm())});
  }

  close() {
    this.#closed = true;
    this.#frame = null;
    this.#host.replaceChildren();
  }

  #layers() {
    return layerStates(this.#item, this.#opacities, this.window);
  }

  #layout() {
    return layoutOf(
        this.#panes.map(({layers}) => ({layers: layers.map(({name}) => name)})), this.plane);
  }

  /** In the middle of a voxel: on the border of two slices either could be shown. */
  #middle() {
    return this.#item.shape_zyx.toReversed().map((size) => Math.floor(size / 2) + 0.5);
  }

  /** The shorter edge of the smallest plane, in screen pixels. */
  #edge() {
    const {width, height} = this.#host.getBoundingClientRect();
    const panes = this.#panes.length;
    const [across, below] = this.plane !== 'all' ? [panes, 1] : panes === 1 ? [2, 2] : [panes, 3];
    return Math.min(width / across, height / below);
  }

  #wholeMm() {
    return 1.05 *
        Math.max(
            ...this.#item.shape_zyx.map((size, axis) => size * this.#item.spacing_zyx_mm[axis]));
  }

  #scale(mm) {
    return scaleOf(this.#item, mm, this.#edge());
  }

  /**
   * Changes these parts of the state and keeps the others; what is told before Neuroglancer has
   * started, once it has. Not by the address: Neuroglancer writes its state there at times of its
   * own, over what it has not read yet.
   */
  #tell(part) {
    Object.assign(this.#untold, part);
    const frame = this.#frame?.contentWindow;
    if (!frame?.viewer) return;
    const told = JSON.stringify(this.#untold);
    this.#untold = {};
    frame.viewer.state.restoreState(frame.JSON.parse(told));
  }

  #say([x, y, z], value) {
    if (z === undefined) return;  // while a state is read
    const [depth] = this.#item.shape_zyx;
    const {unit = '', stored_per_unit: perUnit = 1} = this.#item;
    const pointed = value === undefined ? '' : ` · ${value / perUnit} ${unit} under the pointer`;
    this.#place(`slice ${Math.floor(z) + 1} of ${depth} from below${pointed}`, {z, y, x});
  }

  /** R, L, A, P, I, S at the planes' edges, laid like the planes. */
  #letters() {
    const one = (name) => element(
        'div', {className: 'plane'},
        ...Object.entries(lettersOf(this.#item, name))
            .map(([edge, letter]) => element('span', {className: edge}, letter)));
    const column = (...children) => element('div', {className: 'column'}, ...children);
    const planes = () => {
      if (this.plane !== 'all') return [one(this.plane)];
      const [axial, ...others] = Object.keys(PLANES).map(one);
      return this.#panes.length === 1 ? [axial, column(...others)] : [column(axial, ...others)];
    };
    const row = this.#panes.map(
        ({title}) => element(
            'div', {className: 'row'}, ...planes(),
            title ? element('h3', {className: 'pane-title'}, title) : null));
    this.#host.querySelector('.letters')?.remove();
    this.#host.append(element('div', {className: 'letters', 'aria-hidden': 'true'}, ...row));
  }
}
