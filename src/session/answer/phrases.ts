import { primaryLanguage } from "../../lib/language-tag.ts";
import type { TurnBlock } from "../../conversation/block.ts";
import type { TurnEnd } from "../../turn/turn-event.ts";

/** The worker's own phrases, in one language. */
export interface Phrases {
  readonly refused: string;
  readonly stopped: string;
  readonly tooManySteps: string;
  /** Used when a tool has failed and the model did not mention it. */
  readonly unfinished: string;
  readonly failed: string;
  /** Used when a call takes longer than its tool's `noticeAfterMs`. */
  readonly notice: string;
  /** Used when most of a budget is spent. */
  readonly budgetLow: string;
  /** Used instead of a model's answer when a budget is spent. */
  readonly budgetSpent: string;
  /** Used when a message was rejected because too many arrived at once. */
  readonly tooMany: string;
}

/** Phrases by the primary subtag of a BCP 47 tag, such as `de`. */
export type PhraseTable = Readonly<Record<string, Partial<Phrases>>>;

const ENGLISH: Phrases = {
  refused: "I can't help with that.",
  stopped: "I have to stop here.",
  tooManySteps: "I have to stop here; this took too many steps.",
  unfinished: "I could not finish that.",
  failed: "Something went wrong. Please try again.",
  notice: "This is taking a little longer.",
  budgetLow: "We are close to the end of our budget for this talk.",
  budgetSpent: "I have to stop here: the budget for this talk is used up.",
  tooMany: "Too many messages at once. Please say that again in a moment.",
};

const TABLE: Readonly<Record<string, Phrases>> = {
  de: {
    refused: "Dabei kann ich nicht helfen.",
    stopped: "Ich muss hier aufhören.",
    tooManySteps: "Ich muss hier aufhören; das waren zu viele Schritte.",
    unfinished: "Das hat leider nicht geklappt.",
    failed: "Da ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.",
    notice: "Das dauert etwas länger.",
    budgetLow: "Unser Budget für dieses Gespräch ist fast aufgebraucht.",
    budgetSpent: "Ich muss hier aufhören: Das Budget für dieses Gespräch ist aufgebraucht.",
    tooMany: "Das waren zu viele Nachrichten auf einmal. Bitte sagen Sie das gleich noch einmal.",
  },
  es: {
    refused: "No puedo ayudar con eso.",
    stopped: "Tengo que parar aquí.",
    tooManySteps: "Tengo que parar aquí; han sido demasiados pasos.",
    unfinished: "No he podido terminarlo.",
    failed: "Algo ha salido mal. Inténtelo de nuevo, por favor.",
    notice: "Esto está tardando un poco más.",
    budgetLow: "Casi hemos agotado el presupuesto de esta conversación.",
    budgetSpent: "Tengo que parar aquí: el presupuesto de esta conversación se ha agotado.",
    tooMany: "Demasiados mensajes a la vez. Repítalo en un momento, por favor.",
  },
  fr: {
    refused: "Je ne peux pas vous aider pour cela.",
    stopped: "Je dois m'arrêter ici.",
    tooManySteps: "Je dois m'arrêter ici ; cela a pris trop d'étapes.",
    unfinished: "Je n'ai pas pu terminer.",
    failed: "Quelque chose s'est mal passé. Veuillez réessayer.",
    notice: "Cela prend un peu plus de temps.",
    budgetLow: "Notre budget pour cette conversation est presque épuisé.",
    budgetSpent: "Je dois m'arrêter ici : le budget de cette conversation est épuisé.",
    tooMany: "Trop de messages à la fois. Veuillez répéter dans un instant.",
  },
  it: {
    refused: "Non posso aiutare con questo.",
    stopped: "Devo fermarmi qui.",
    tooManySteps: "Devo fermarmi qui; ci sono voluti troppi passaggi.",
    unfinished: "Non sono riuscito a finire.",
    failed: "Qualcosa è andato storto. Riprovi, per favore.",
    notice: "Ci vuole ancora un momento.",
    budgetLow: "Il budget per questa conversazione è quasi esaurito.",
    budgetSpent: "Devo fermarmi qui: il budget per questa conversazione è esaurito.",
    tooMany: "Troppi messaggi insieme. Lo ripeta tra un momento, per favore.",
  },
  nl: {
    refused: "Daar kan ik niet bij helpen.",
    stopped: "Ik moet hier stoppen.",
    tooManySteps: "Ik moet hier stoppen; dit kostte te veel stappen.",
    unfinished: "Dat is me niet gelukt.",
    failed: "Er is iets misgegaan. Probeer het nog eens.",
    notice: "Dit duurt iets langer.",
    budgetLow: "Het budget voor dit gesprek is bijna op.",
    budgetSpent: "Ik moet hier stoppen: het budget voor dit gesprek is op.",
    tooMany: "Te veel berichten tegelijk. Zeg het zo nog eens.",
  },
  pt: {
    refused: "Não posso ajudar com isso.",
    stopped: "Tenho de parar aqui.",
    tooManySteps: "Tenho de parar aqui; foram passos demais.",
    unfinished: "Não consegui terminar.",
    failed: "Algo correu mal. Tente novamente, por favor.",
    notice: "Isto está a demorar um pouco mais.",
    budgetLow: "O orçamento desta conversa está quase esgotado.",
    budgetSpent: "Tenho de parar aqui: o orçamento desta conversa esgotou-se.",
    tooMany: "Demasiadas mensagens de uma vez. Repita daqui a pouco, por favor.",
  },
};

/**
 * Returns the phrases for a language, or the English ones if there are none. Phrases in the config override the
 * built-in ones.
 */
export function phrasesFor(language: string | undefined, overrides: PhraseTable = {}): Phrases {
  const primary = primaryLanguage(language);
  const isKnown = Object.hasOwn(TABLE, primary) || Object.hasOwn(overrides, primary);
  const key = isKnown ? primary : "en";
  const own = Object.hasOwn(TABLE, key) ? TABLE[key] : undefined;
  const given = Object.hasOwn(overrides, key) ? overrides[key] : undefined;
  return { ...ENGLISH, ...own, ...given };
}

const ENDS: Partial<Record<string, keyof Phrases>> = {
  refusal: "refused",
  max_tokens: "stopped",
  model_context_window_exceeded: "stopped",
  step_limit: "tooManySteps",
  pause_turn: "tooManySteps",
  budget: "budgetSpent",
};

/** Returns the phrase that explains how a turn ended, or `undefined` if no explanation is needed. */
export function phraseOfEnd({ state, stopReason }: TurnEnd, blocks: readonly TurnBlock[]): keyof Phrases | undefined {
  if (state === "failed") return "failed";
  if (state !== "completed") return undefined;
  const phrase = ENDS[stopReason ?? ""];
  if (phrase !== undefined) return phrase;
  const last = blocks.findLast(({ blockType, textContent }) => {
    return blockType === "tool_result" || (blockType === "text" && textContent?.trim() !== "");
  });
  const isUnfinished = last?.blockType === "tool_result" && last.content?.["is_error"] === true;
  return isUnfinished ? "unfinished" : undefined;
}
