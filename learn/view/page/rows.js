// What a row of the two lists shows.
import {element, swatch} from './dom.js';

const LISTS = {
  equivocal: 'to review',
  regions: 'region',
  lesions: 'lesion'
};

/** A verdict in words. */
export function verdictText(verdict) {
  if (!verdict) return 'no verdict';
  const outline = verdict.outline?.length ? ', outline corrected' : '';
  if (verdict.verdict === 'reclass') return `changed to ${verdict.class}${outline}`;
  return (verdict.verdict === 'accept' ? 'accepted' : 'rejected') + outline;
}

export function itemRow(item) {
  const number = `${item.findings} ${item.findings === 1 ? 'finding' : 'findings'}`;
  const badge = item.prediction ?
      element(
          'span', {className: 'badge', title: number, 'aria-label': number},
          String(item.findings)) :
      null;
  const kind = item.kind === 'slide' ? 'slide' : 'CT';
  return [
    element('span', {className: 'name'}, item.title || item.id),
    badge,
    element('small', {}, item.case && item.case !== item.id ? `${kind} · ${item.case}` : kind),
  ];
}

export function findingRow(finding, colours) {
  const verdict = finding.verdict?.verdict ?? 'open';
  const score = finding.score === null ?
      null :
      element('span', {className: 'score'}, finding.score.toFixed(2));
  return [
    element(
        'span', {className: 'name'}, swatch(colours.get(finding.class) ?? 'transparent'),
        finding.title),
    score,
    finding.why ? element('small', {}, finding.why) : null,
    element(
        'small', {className: `state ${verdict}`},
        `${LISTS[finding.list] ?? finding.list} ${finding.number} · ${
            verdictText(finding.verdict)}`),
  ];
}
