// The texts of the page in the language of the report.

import { german } from "./de";
import { english, type Texts } from "./en";

export type { Noun } from "./en";

/** The texts. Modules must not use them before `setLanguage` was called. */
export let t: Texts = english;

const LANGUAGES: Record<string, Texts> = { en: english, de: german };

export function setLanguage(code: string): void {
  t = LANGUAGES[code] ?? english;
}
