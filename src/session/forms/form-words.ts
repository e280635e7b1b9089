import { primaryLanguage } from "../../lib/language-tag.ts";

/**
 * The words for forms in one language. Some are spoken. The others are recognized in answers, and are written in the
 * form that `toWords` returns.
 */
interface FormWords {
  /** Spoken before a question is asked again. */
  readonly invalid: string;
  /** Spoken after the question for an optional field. */
  readonly optional: string;
  /** Spoken before a list of choices if several may be picked. */
  readonly several: string;
  /** Words that mean all choices. */
  readonly all: readonly string[];
  readonly skip: readonly string[];
  readonly refuse: readonly string[];
  /** Number words from zero up, because speech recognizers do not write small numbers as digits. */
  readonly numbers: readonly string[];
}

const ENGLISH: FormWords = {
  invalid: "That does not fit.",
  optional: "You can say skip.",
  several: "You can name several:",
  all: "all everything".split(" "),
  skip: ["skip", "skip it", "skip that", "nothing", "none"],
  refuse: ["cancel", "never mind", "forget it", "i dont want to", "i do not want to", "i refuse"],
  numbers: "zero one two three four five six seven eight nine ten eleven twelve".split(" "),
};

/** Words by the primary subtag of a BCP 47 tag. */
const TABLE: Readonly<Record<string, FormWords>> = {
  en: ENGLISH,
  de: {
    invalid: "Das passt nicht.",
    optional: "Sie können „weiter“ sagen.",
    several: "Sie können mehrere nennen:",
    all: "alle alles".split(" "),
    skip: ["weiter", "nichts", "keine", "keiner", "keins", "uberspringen"],
    refuse: ["abbrechen", "vergiss es", "vergessen sie es", "ich mochte nicht", "ich will nicht"],
    numbers: "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf".split(" "),
  },
  es: {
    invalid: "Eso no encaja.",
    optional: "Puede decir «siguiente».",
    several: "Puede nombrar varios:",
    all: "todo todos todas".split(" "),
    skip: ["siguiente", "nada", "ninguno", "ninguna", "saltar"],
    refuse: ["cancelar", "dejalo", "dejelo", "olvidalo", "no quiero"],
    numbers: "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce".split(" "),
  },
  fr: {
    invalid: "Cela ne convient pas.",
    optional: "Vous pouvez dire « suivant ».",
    several: "Vous pouvez en nommer plusieurs :",
    all: "tout tous toutes".split(" "),
    skip: ["suivant", "suivante", "rien", "aucun", "aucune", "passer"],
    refuse: ["annuler", "laisse tomber", "laissez tomber", "je ne veux pas"],
    numbers: "zero un deux trois quatre cinq six sept huit neuf dix onze douze".split(" "),
  },
  it: {
    invalid: "Non va bene.",
    optional: "Può dire «avanti».",
    several: "Può nominarne diversi:",
    all: "tutto tutti tutte".split(" "),
    skip: ["avanti", "niente", "nessuno", "nessuna", "salta"],
    refuse: ["annulla", "lascia stare", "lasci stare", "non voglio"],
    numbers: "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici".split(" "),
  },
  nl: {
    invalid: "Dat past niet.",
    optional: "U kunt ‘verder’ zeggen.",
    several: "U kunt er meer noemen:",
    all: "alle alles allemaal".split(" "),
    skip: ["verder", "niets", "geen", "overslaan"],
    refuse: ["annuleren", "laat maar", "vergeet het", "ik wil niet"],
    numbers: "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf".split(" "),
  },
  pt: {
    invalid: "Isso não serve.",
    optional: "Pode dizer «seguinte».",
    several: "Pode dizer vários:",
    all: "tudo todos todas".split(" "),
    skip: ["seguinte", "nada", "nenhum", "nenhuma", "saltar"],
    refuse: ["cancelar", "deixa estar", "deixe estar", "esquece", "nao quero"],
    numbers: "zero um dois tres quatro cinco seis sete oito nove dez onze doze".split(" "),
  },
};

/** @param language a BCP 47 tag; English is returned for a language that is not in the table */
export function formWordsOf(language: string | undefined): FormWords {
  const primary = primaryLanguage(language);
  return (Object.hasOwn(TABLE, primary) ? TABLE[primary] : undefined) ?? ENGLISH;
}
