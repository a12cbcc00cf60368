/* global OpenSeadragon */
// Boxes and outlines over a slide, in level-0 pixels.
import {marksOver, openLine, points, twice} from './marks.js';

export class SlideMarks {
  #viewer;
  #width;
  #group;

  /** width: of the slide in level-0 pixels. */
  constructor(viewer, width) {
    this.#viewer = viewer;
    this.#width = width;
    this.#group = marksOver(viewer.canvas);
    for (const event of ['update-viewport', 'open', 'resize'])
      viewer.addHandler(event, () => this.place());
  }

  /**
   * box: [y0, x0, y1, x1] or null; rings: closed outlines of [y, x]; open: the line being drawn.
   */
  show({box = null, rings = [], open = []}) {
    const made = [];
    if (box) {
      const [y0, x0, y1, x1] = box;
      made.push(...twice('rect', {x: x0, y: y0, width: x1 - x0, height: y1 - y0}, 'box'));
    }
    for (const ring of rings) made.push(...twice('polygon', {points: points(ring)}, 'outline'));
    made.push(...openLine(open));
    this.#group.replaceChildren(...made);
    this.place();
  }

  place() {
    const {viewport} = this.#viewer;
    // The slide's width is 1 in the viewport, and its pixels are square there.
    const first = viewport.pixelFromPoint(new OpenSeadragon.Point(0, 0), true);
    const scale =
        (viewport.pixelFromPoint(new OpenSeadragon.Point(1, 0), true).x - first.x) / this.#width;
    this.#group.setAttribute('transform', `matrix(${scale} 0 0 ${scale} ${first.x} ${first.y})`);
  }
}
