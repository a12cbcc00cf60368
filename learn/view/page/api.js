// The server's answers. Every error is thrown as one sentence that can be shown.

const SILENT = 'The server does not answer. Is headrace view still running?';
// A write carries this header; a form or a link of another site can't set it.
const OWN = {
  'X-Headrace': '1',
  'Content-Type': 'application/json'
};

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new Error(SILENT);
  }
}

async function sentenceOf(reply, path) {
  try {
    const sentence = (await reply.json()).error;
    if (sentence) return sentence;
  } catch {
    // Not JSON: the status says what is known.
  }
  return `The server answered ${reply.status} to ${path}.`;
}

async function call(path, options = {}) {
  const reply = await reach(path, options);
  if (!reply.ok) throw new Error(await sentenceOf(reply, path));
  const text = await reply.text();
  return text ? JSON.parse(text) : {};
}

const findingPath = (item, finding) =>
    `/api/items/${item}/findings/${encodeURIComponent(finding.list)}/${finding.number}`;
const verdictPath = (item, finding) => `${findingPath(item, finding)}/verdict`;

/** The body as one typed array. */
async function numbers(path, Kind) {
  const reply = await reach(path);
  if (!reply.ok) throw new Error(await sentenceOf(reply, path));
  return new Kind(await reply.arrayBuffer());
}

export const items = () => call('/api/items');
export const item = (n) => call(`/api/items/${n}`);
export const findings = async (n) => (await call(`/api/items/${n}/findings`)).findings;
export const saveLabels = (n) =>
    call(`/api/items/${n}/labels`, {method: 'POST', headers: OWN, body: '{}'});
export const saveVerdict = (n, finding, verdict) =>
    call(verdictPath(n, finding), {method: 'PUT', headers: OWN, body: JSON.stringify(verdict)});
export const removeVerdict = (n, finding) =>
    call(verdictPath(n, finding), {method: 'DELETE', headers: OWN});
/** {slice: [{class, rings, reviewer, time}]} */
export const outlines = async (n) => (await call(`/api/items/${n}/outlines`)).slices;
/** The outlines of a slice, in place of those it had; gives them as stored. */
export const saveOutlines = async (n, slice, outlines) =>
    (await call(
         `/api/items/${n}/outlines/${slice}`,
         {method: 'PUT', headers: OWN, body: JSON.stringify({outlines})}))
        .outlines;
/** The rings of a lesion on a slice, [[[y, x], …], …]. */
export const contours = async (n, finding, slice) =>
    (await call(`${findingPath(n, finding)}/contours/${slice}`)).rings;

/**
 * Throws the server's sentence if this address can't be had; for what images and frames load by
 * themselves.
 */
export async function check(path) {
  const reply = await reach(path);
  if (!reply.ok) throw new Error(await sentenceOf(reply, path));
  await reply.body?.cancel();
}

export const tileUrl = (n, layer, level, x, y) => `/slides/${n}/${encodeURIComponent(layer.name)}/${
    level}/${x}_${y}.${layer.kind === 'image' ? 'jpg' : 'png'}`;
export const volumePath = (n, layer) => `/volumes/${n}/${encodeURIComponent(layer.name)}`;
/** Stored values of an axial slice, row by row. */
export const slice = (n, layer, z) => numbers(
    `${volumePath(n, layer)}/slices/${z}`, layer.kind === 'image' ? Int16Array : Uint8Array);
