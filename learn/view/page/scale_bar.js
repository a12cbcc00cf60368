// A bar of a round length. Lengths are known only where the slide states its micrometres a pixel.
import {element} from './dom.js';

const WIDEST = 160;  // screen pixels

/** The largest of 1, 2, 5 · 10^k that is not above `most`. */
export function roundBelow(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([5, 2].find((step) => step * power <= most) ?? 1);
}

/**
 * {width: screen pixels, text}. pixels: level-0 pixels a screen pixel; mpp: µm a level-0 pixel, or
 * null.
 */
export function barOf(pixels, mpp) {
  const unit = mpp ? pixels * mpp : pixels;
  const length = roundBelow(WIDEST * unit);
  const plain = (value) => String(Number(value.toPrecision(3)));
  const text = !mpp ? `${plain(length)} px` :
      length >= 1000 ? `${plain(length / 1000)} mm` :
                       `${plain(length)} µm`;
  return {width: length / unit, text};
}

export class ScaleBar {
  #text = element('span');
  #bar = element('div', {className: 'scale-bar', 'aria-hidden': 'true'}, this.#text);
  #mpp;

  constructor(host, mpp) {
    this.#mpp = mpp;
    host.append(this.#bar);
  }

  update(pixels) {
    const {width, text} = barOf(pixels, this.#mpp);
    this.#bar.style.width = `${width}px`;
    this.#text.textContent = text;
  }
}
