export const PRIMARY = "ˈ";
export const SECONDARY = "ˌ";
export const VOWELS: ReadonlySet<string> = new Set("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ");
export const CONSONANTS: ReadonlySet<string> = new Set("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ");
const LONG = new Set("AIOQWYʤʧ");

export const stressWeight = (phonemes: string): number =>
  Array.from(phonemes).reduce((sum, phoneme) => sum + (LONG.has(phoneme) ? 2 : 1), 0);

function stressFirstVowel(phonemes: string, mark: string): string {
  const characters = Array.from(phonemes);
  const at = characters.findIndex((phoneme) => VOWELS.has(phoneme));
  return at === -1 ? phonemes : characters.toSpliced(at, 0, mark).join("");
}

/** Changes a word's stress: from -2, which removes all stress, to 2, which adds a primary stress. */
export function applyStress(phonemes: string, stress: number | undefined): string {
  if (stress === undefined) return phonemes;
  const isPrimary = phonemes.includes(PRIMARY);
  const isSecondary = phonemes.includes(SECONDARY);
  if (stress < -1) return phonemes.replaceAll(/[ˈˌ]/g, "");
  if (stress === -1 || (isPrimary && (stress === 0 || stress === -0.5)))
    return phonemes.replaceAll(SECONDARY, "").replaceAll(PRIMARY, SECONDARY);
  if (!isPrimary && !isSecondary && stress >= 0) return stressFirstVowel(phonemes, stress > 1 ? PRIMARY : SECONDARY);
  if (stress >= 1 && !isPrimary) return phonemes.replaceAll(SECONDARY, PRIMARY);
  return phonemes;
}
