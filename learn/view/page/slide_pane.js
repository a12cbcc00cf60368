// One OpenSeadragon viewer: the slide, its layers in front of it, marks and a scale bar.
/* global OpenSeadragon */
import {tileUrl} from './api.js';
import {element} from './dom.js';
import {isBase} from './panes.js';
import {ScaleBar} from './scale_bar.js';
import {SlideMarks} from './slide_marks.js';

const OPTIONS = {
  // The 2D canvas: the same picture with and without a graphics card, also in a remote desktop.
  drawer: 'canvas',
  showNavigationControl: false,
  showNavigator: true,
  navigatorPosition: 'BOTTOM_RIGHT',
  navigatorSizeRatio: 0.16,
  minZoomImageRatio: 0.5,
  maxZoomPixelRatio: 4,
  visibilityRatio: 0.2,
  gestureSettingsMouse: {clickToZoom: false, dblClickToZoom: true, flickEnabled: false},
};

export class SlidePane {
  viewer;
  marks;
  #item;
  #layers;
  #images = new Map();  // layer name -> TiledImage
  #levels = new Map();  // layer name -> the opacity that was asked for
  #scale;

  /**
   * title: shown in the corner, or null. layers: the image first. failed(url): a tile did not
   * come.
   */
  constructor(host, item, {title, layers, navigator, failed}) {
    this.#item = item;
    this.#layers = layers;
    const box = element(
        'div', {className: 'slide', role: 'img', 'aria-label': `${item.id}, ${title ?? 'slide'}`});
    const frame = element('div', {className: 'pane'}, box);
    host.append(frame);
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.viewer = OpenSeadragon({
      ...OPTIONS,
      element: box,
      showNavigator: navigator,
      animationTime: still ? 0 : 0.8,
      immediateRender: still
    });
    if (title) frame.append(element('h3', {className: 'pane-title'}, title));
    this.marks = new SlideMarks(this.viewer, item.width);
    this.#scale = new ScaleBar(frame, item.mpp);
    this.viewer.addHandler('update-viewport', () => this.#scale.update(this.pixels()));
    this.viewer.addHandler('tile-load-failed', ({tile}) => failed(tile.getUrl()));
    // The page's keys rule; only arrows move here. Others would turn or mirror the slide.
    this.viewer.addHandler('canvas-key', (event) => {
      event.preventDefaultAction = !event.originalEvent.key.startsWith('Arrow');
    });
  }

  /** Done when the first layer stands, the slide itself; the others follow as they come. */
  open() {
    return new Promise((resolve) => {
      this.#layers.forEach((layer, index) => this.viewer.addTiledImage({
        tileSource: this.#source(layer),
        index,
        width: 1,
        opacity: isBase(layer) ? 1 : 0,
        success: ({item: image}) => {
          this.#images.set(layer.name, image);
          if (!isBase(layer)) image.setOpacity(this.#levels.get(layer.name) ?? 0);
          if (index === 0) resolve();
        },
      }));
    });
  }

  /** Opacity 0 loads nothing. */
  setOpacity(name, opacity) {
    this.#levels.set(name, opacity);
    this.#images.get(name)?.setOpacity(opacity);
  }

  /** Level-0 pixels a screen pixel, now. */
  pixels() {
    const {viewport} = this.viewer;
    return this.#item.width / (viewport.getZoom(true) * viewport.getContainerSize().x);
  }

  /** [y, x] of a place on the pane, in level-0 pixels, cut at the slide's edge. */
  pixelAt(position) {
    const point = this.viewer.viewport.pointFromPixel(position, true);
    const cut = (value, size) => Math.round(Math.max(0, Math.min(size, value)) * 100) / 100;
    // The slide's width is 1 in the viewport, and its pixels are square there.
    return [
      cut(point.y * this.#item.width, this.#item.height),
      cut(point.x * this.#item.width, this.#item.width)
    ];
  }

  /**
   * Calls click([y, x]) where it is clicked, level-0 pixels, and close() at a double click; neither
   * moves the slide any more. Gives a function that ends this.
   */
  listen(click, close) {
    const clicked = (event) => {
      event.preventDefaultAction = true;
      if (event.quick) click(this.pixelAt(event.position));
    };
    const twice = (event) => {
      event.preventDefaultAction = true;
      close();
    };
    this.viewer.addHandler('canvas-click', clicked);
    this.viewer.addHandler('canvas-double-click', twice);
    return () => {
      this.viewer.removeHandler('canvas-click', clicked);
      this.viewer.removeHandler('canvas-double-click', twice);
    };
  }

  /** [y, x] of the middle of the pane, in level-0 pixels. */
  centre() {
    const {x, y} = this.viewer.viewport.getCenter(true);
    return [y * this.#item.width, x * this.#item.width];
  }

  /**
   * A box [y0, x0, y1, x1] with room around it; a small one is not blown up beyond `least` pixels.
   */
  goTo([y0, x0, y1, x1], least) {
    const size = Math.max(least, 1.6 * (x1 - x0), 1.6 * (y1 - y0));
    const [left, top] = [(x0 + x1 - size) / 2, (y0 + y1 - size) / 2];
    const unit = this.#item.width;
    this.viewer.viewport.fitBounds(
        new OpenSeadragon.Rect(left / unit, top / unit, size / unit, size / unit));
  }

  #source(layer) {
    const {n, width, height, tile, levels} = this.#item;
    return {
      width,
      height,
      tileSize: tile,
      tileOverlap: 0,
      minLevel: 0,
      maxLevel: levels - 1,
      getTileUrl: (level, x, y) => tileUrl(n, layer, level, x, y)
    };
  }
}
