// The texts that Python writes, by language, for the build.

import { germanInPython } from "./de";
import { englishInPython } from "./en";

export default { en: englishInPython, de: germanInPython };
