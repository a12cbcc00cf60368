// Starts Neuroglancer inside its frame. The client that its Python package brings is made to be led
// by a Python server, at an address /v/TOKEN, over an event stream. Here its first state is in the
// address's hash, and the stream is a stand-in that says one thing: which of Neuroglancer's own
// bars are hidden, since the page has the controls.

const CLIENT = '/neuroglancer/';
const LOOK = {
  showUIControls: false,
  showLayerPanel: false,
  showTopBar: false,
  showPanelBorders: true
};

class OneMessage extends EventTarget {
  constructor() {
    super();
    setTimeout(() => {
      this.onopen?.();
      this.onmessage?.({data: JSON.stringify({k: 'c', g: '1', s: LOOK})});
    });
  }

  close() {}
}

async function start() {
  window.EventSource = OneMessage;
  history.replaceState(null, '', `/v/planes${location.hash}`);
  const reply = await fetch(`${CLIENT}index.html`);
  const index = new DOMParser().parseFromString(await reply.text(), 'text/html');
  for (const {attributes} of index.querySelectorAll('link[rel=stylesheet]')) {
    const link = document.createElement('link');
    Object.assign(link, {rel: 'stylesheet', href: CLIENT + attributes.href.value});
    document.head.append(link);
  }
  for (const {attributes} of index.querySelectorAll('script[src]')) {
    const script = document.createElement('script');
    Object.assign(script, {async: false, src: CLIENT + attributes.src.value});
    document.head.append(script);
  }
}

start();
