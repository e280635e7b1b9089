// Pronunciation of -s, -ed and -ing after a stem. American rules: a t between vowels becomes a flap.

const BEFORE_FLAP = new Set("AIOWYiuæɑəɛɪɹʊʌ");

export function withS(stem: string | undefined): string | undefined {
  if (!stem) return undefined;
  const last = stem.at(-1) ?? "";
  if ("ptkfθ".includes(last)) return `${stem}s`;
  return "szʃʒʧʤ".includes(last) ? `${stem}ᵻz` : `${stem}z`;
}

export function withEd(stem: string | undefined): string | undefined {
  if (!stem) return undefined;
  const last = stem.at(-1) ?? "";
  if ("pkfθʃsʧ".includes(last)) return `${stem}t`;
  if (last === "d") return `${stem}ᵻd`;
  if (last !== "t") return `${stem}d`;
  if (stem.length < 2) return `${stem}ɪd`;
  return BEFORE_FLAP.has(stem.at(-2) ?? "") ? `${stem.slice(0, -1)}ɾᵻd` : `${stem}ᵻd`;
}

export function withIng(stem: string | undefined): string | undefined {
  if (!stem) return undefined;
  const isFlap = stem.endsWith("t") && BEFORE_FLAP.has(stem.at(-2) ?? "");
  return isFlap ? `${stem.slice(0, -1)}ɾɪŋ` : `${stem}ɪŋ`;
}
