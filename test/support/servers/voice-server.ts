import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";

/**
 * How many seconds the voice takes for a letter and for a digit: a number takes much longer than a word of the same
 * length.
 */
const LETTER = 0.06;
const DIGIT = 0.35;
/** How many seconds of silence follow a word, and the last word of a sentence. */
const GAP = 0.05;
const PAUSE = 0.45;
/** How much sound is sent at a time, and how long generating it takes, in ms. */
const CHUNK_MS = 100;
const CHUNK_TAKES_MS = 20;
const FIRST_SOUND_AFTER_MS = 120;
const LOUDNESS = 8_000;
const HERTZ = 220;

export interface TimedWord {
  readonly word: string;
  /** In seconds since the start of the text's sound. */
  readonly start: number;
  readonly end: number;
}

/** The times of each word in a text, and the duration of the whole text. */
export function timesOf(text: string): { readonly words: readonly TimedWord[]; readonly seconds: number } {
  let at = 0;
  const words = text.match(/\S+/gu)?.map((word) => {
    const start = at;
    const digits = word.match(/\d/gu)?.length ?? 0;
    const end = start + digits * DIGIT + (word.length - digits) * LETTER;
    at = end + (/[.?!]$/u.test(word) ? PAUSE : GAP);
    return { word, start, end };
  });
  return { words: words ?? [], seconds: at };
}

interface Made {
  readonly sound: Buffer;
  /** The words that end in this piece of sound. Their times count from the start of the text's sound. */
  readonly words: readonly TimedWord[];
}

/** The sound of a text in pieces, at the speed at which the server generates it. */
async function* speak(text: string, rate: number): AsyncGenerator<Made> {
  const { words, seconds } = timesOf(text);
  const isLoud = (at: number) => words.some(({ start, end }) => at >= start && at < end);
  await sleep(FIRST_SOUND_AFTER_MS);
  let given = 0;
  for (let from = 0; from < seconds * 1_000; from += CHUNK_MS) {
    const first = Math.round((from * rate) / 1_000);
    const samples = new Int16Array(Math.round((Math.min(seconds * 1_000, from + CHUNK_MS) * rate) / 1_000) - first);
    for (let index = 0; index < samples.length; index++) {
      const at = (first + index) / rate;
      if (isLoud(at)) samples[index] = Math.sin(2 * Math.PI * HERTZ * at) * LOUDNESS;
    }
    const whole = words.filter(({ end }) => end * 1_000 <= from + CHUNK_MS);
    yield { sound: Buffer.from(samples.buffer), words: whole.slice(given) };
    given = whole.length;
    await sleep(CHUNK_TAKES_MS);
  }
}

interface Options {
  /** Whether the server sends word times, for providers that support these. @defaultValue true */
  readonly hasTimes?: boolean;
}

/**
 * Simulates the websockets of Cartesia, ElevenLabs and Deepgram. Speaks each word at its own pace, as tones, and
 * generates the sound five times as fast as it plays.
 */
export class VoiceServer implements AsyncDisposable {
  /** The address of the server, which also accepts `ws://` instead of `http://`. */
  readonly url: string;
  /** For each connection, the texts that the server was asked to speak. */
  readonly said: string[][] = [];
  readonly #hasTimes: boolean;
  readonly #close: () => Promise<void>;

  private constructor(url: string, { hasTimes = true }: Options, close: () => Promise<void>) {
    this.url = url;
    this.#hasTimes = hasTimes;
    this.#close = close;
  }

  static async start(options: Options = {}): Promise<VoiceServer> {
    const http = createServer((_, response) => response.writeHead(404).end());
    const sockets = new WebSocketServer({ server: http });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const server = new VoiceServer(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, options, async () => {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => http.close(resolve));
    });
    sockets.on("connection", (socket, { url = "" }) => server.#serve(socket, new URL(url, server.url)));
    return server;
  }

  #serve(socket: WebSocket, { pathname, searchParams }: URL): void {
    const said: string[] = [];
    this.said.push(said);
    const send = (message: object) => socket.send(JSON.stringify(message));
    let running = Promise.resolve();
    /** For each context, when the sound of its next text will start, in seconds. */
    const begins = new Map<string, number>();
    const say = (context: string, text: string, each: (made: Made) => void) => {
      if (text.trim() === "") return;
      said.push(text.trim());
      running = running.then(async () => {
        const begin = begins.get(context) ?? 0;
        const later = ({ word, start, end }: TimedWord) => ({ word, start: begin + start, end: begin + end });
        const rate = Number(searchParams.get("sample_rate") ?? (pathname === "/tts/websocket" ? 24_000 : 22_050));
        for await (const made of speak(text, rate)) each({ ...made, words: made.words.map(later) });
        begins.set(context, begin + timesOf(text).seconds);
      });
    };
    const then = (act: () => void) => {
      running = running.then(act);
    };
    socket.on("message", (data) => {
      const message = JSON.parse((data as Buffer).toString()) as Record<string, string | boolean | undefined>;
      const context = String(message["context_id"]);
      const text = String(message["transcript"] ?? message["text"] ?? "");
      if (pathname === "/tts/websocket") {
        const base = { context_id: context, status_code: 206, done: false };
        say(context, text, ({ sound, words }) => {
          send({ ...base, type: "chunk", data: sound.toString("base64"), step_time: 1 });
          if (words.length > 0 && this.#hasTimes)
            send({ ...base, type: "timestamps", word_timestamps: columns(words) });
        });
        if (message["continue"] === false) then(() => send({ ...base, type: "done", done: true, status_code: 200 }));
      } else if (pathname === "/v1/speak") {
        say("", text, ({ sound }) => socket.send(sound));
        if (message["type"] === "Flush") then(() => send({ type: "Flushed" }));
        if (message["type"] === "Close") then(() => socket.close());
      } else {
        say(context, text, ({ sound, words }) => {
          const alignment = this.#hasTimes && words.length > 0 ? characters(words) : null;
          send({ contextId: context, audio: sound.toString("base64"), alignment, normalizedAlignment: alignment });
        });
        if (message["close_context"]) then(() => send({ contextId: context, isFinal: true }));
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

function columns(words: readonly TimedWord[]) {
  const column = <Key extends keyof TimedWord>(key: Key) => words.map((word) => word[key]);
  return { words: column("word"), start: column("start"), end: column("end") };
}

function characters(words: readonly TimedWord[]) {
  const each = words.flatMap(({ word, start, end }) => {
    const ms = ((end - start) * 1_000) / word.length;
    return `${word} `.split("").map((char, index) => ({
      char,
      start: start * 1_000 + Math.min(index, word.length) * ms,
      ms,
    }));
  });
  return {
    chars: each.map(({ char }) => char),
    charStartTimesMs: each.map(({ start }) => start),
    charDurationsMs: each.map(({ ms }) => ms),
  };
}
