// The rules of a cluster as one line of text.

import { copiedRule } from "../shared/format";
import type { Rule } from "../types";
import { t } from "../texts";

export function ruleText(rules: Rule[]): string {
  if (!rules.length) return t.noRule;
  const texts = rules.map((rule) => copiedRule(rule.text));
  return texts.length === 1 ? texts[0] : texts.map((text) => `(${text})`).join(t.or);
}
