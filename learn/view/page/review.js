// The findings of one image, which one is chosen, and their verdicts as the server has them.
import * as api from './api.js';

export class Review {
  findings;
  at = -1;
  #item;
  #drafts = new Map();        // finding -> outline and comment that came before a verdict
  #last = Promise.resolve();  // writes go one after the other, so that the last one stands

  constructor(item, findings) {
    this.#item = item;
    this.findings = findings;
  }

  get chosen() {
    return this.findings[this.at];
  }
  get judged() {
    return this.findings.filter(({verdict}) => verdict).length;
  }

  /** The classes a finding may be changed to, in the order of the keys 1 to 9. */
  get classes() {
    const layer = this.#item.layers.find(({name}) => name === 'prediction');
    return (layer?.classes ?? []).filter(({value}) => value > 0);
  }

  /**
   * The outline to be drawn for a finding: the one that waits for a verdict, else the saved one.
   */
  outlineOf(finding) {
    const waiting = this.#drafts.get(finding);
    return (waiting && 'outline' in waiting ? waiting.outline : finding?.verdict?.outline) ?? [];
  }

  choose(index) {
    if (!this.findings[index]) return undefined;
    this.at = index;
    return this.chosen;
  }

  /**
   * change: some of verdict, class, outline (null: none), comment. False: kept here until there is
   * a verdict.
   */
  judge(finding, change) {
    return this.#write(async () => {
      const {verdict, outline, comment, class: changed} = {
        ...finding.verdict,
        ...this.#drafts.get(finding),
        ...change
      };
      if (!verdict) {
        this.#drafts.set(finding, {...this.#drafts.get(finding), ...change});
        return false;
      }
      const sent = {verdict, comment: comment ?? ''};
      if (verdict === 'reclass') sent.class = changed;
      if (outline?.length) sent.outline = outline;
      finding.verdict = await api.saveVerdict(this.#item.n, finding, sent);
      this.#drafts.delete(finding);
      return true;
    });
  }

  /** Removes the verdict, and what waited for one. */
  remove(finding) {
    return this.#write(async () => {
      if (finding.verdict) await api.removeVerdict(this.#item.n, finding);
      finding.verdict = null;
      this.#drafts.delete(finding);
    });
  }

  #write(act) {
    const done = this.#last.then(act);
    this.#last = done.catch(() => {});
    return done;
  }
}
