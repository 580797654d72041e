// The rules of a cluster as one line of text.

import type { Rule } from "../types";
import { t } from "../texts";

export function ruleText(rules: Rule[]): string {
  if (!rules.length) return t.noRule;
  return rules.length === 1 ? rules[0].text : rules.map((rule) => `(${rule.text})`).join(t.or);
}
