import { type Check, KitFault, NotApplicable, type Suite } from "../check.ts";
import { runSuites, type Verdict } from "../run/run-suites.ts";
import { judgeWriting } from "../run/written-rules.ts";
import { CutLine } from "../wire/cut-line.ts";
import type { LivekitServer } from "../wire/room-end.ts";
import { callChecks, repeatChecks, timeoutChecks } from "./checks/calls.ts";
import { cancelChecks, eitherChecks } from "./checks/cancels.ts";
import { frameChecks, senderChecks } from "./checks/frames.ts";
import { joiningChecks, waitingChecks } from "./checks/joining.ts";
import { cutChecks, otherWorkerChecks, rejoinChecks } from "./checks/leaving.ts";
import {
  acknowledgedChecks,
  lostMessageChecks,
  lostResultChecks,
  lostStanzaChecks,
  rateChecks,
} from "./checks/losing.ts";
import { refusalChecks } from "./checks/refusals.ts";
import { permissionChecks, slowChecks, talkChecks } from "./checks/talking.ts";
import { ClientTalk, type ClientTalkOptions } from "./client-talk.ts";
import { CLIENT_RULES } from "./written-rules.ts";

export interface ClientUnderTest {
  readonly livekit: LivekitServer;
  /** Program and arguments. */
  readonly command: readonly string[];
  /** The program's environment. The kit adds its own variables. */
  readonly environment: NodeJS.ProcessEnv;
}

export async function checkClient(client: ClientUnderTest): Promise<Verdict[]> {
  const talks: ClientTalk[] = [];
  const verdicts = await runSuites(clientSuites(client, (talk) => talks.push(talk)));
  const recordings = talks.map(({ frames, joins }) => ({ frames: frames.items, joins }));
  return [...verdicts, ...(await judgeWriting(CLIENT_RULES, recordings))];
}

type Options = Omit<ClientTalkOptions, keyof ClientUnderTest>;

/** Returns all checks for clients. Suites with long waits come first. `onTalk` is called for each opened room. */
export function clientSuites(client: ClientUnderTest, onTalk: (talk: ClientTalk) => void): Suite<ClientTalk>[] {
  const open = async (options: Options) => {
    const talk = await ClientTalk.open({ ...client, ...options });
    onTalk(talk);
    return talk;
  };
  const suite = (name: string, checks: readonly Check<ClientTalk>[], options: Options = {}): Suite<ClientTalk> => {
    return { name, checks, open: () => open(options) };
  };
  return [
    suite("coming back", rejoinChecks),
    suite("another worker", otherWorkerChecks),
    cutSuite(client, open),
    suite("strangers", senderChecks),
    suite("a lost message", lostMessageChecks),
    suite("a lost stanza", lostStanzaChecks),
    suite("a lost result", lostResultChecks),
    suite("an acknowledged message", acknowledgedChecks),
    suite("a slow worker", slowChecks),
    suite("no worker yet", waitingChecks, { hasWorker: false }),
    suite("too many messages", rateChecks),
    suite("frames", frameChecks),
    suite("calls", [...callChecks, ...refusalChecks]),
    suite("time and repetition", [...timeoutChecks, ...repeatChecks], { hasNamedRoom: false }),
    suite("cancels and claims", [...cancelChecks, ...eitherChecks]),
    suite("talk", [...talkChecks, ...permissionChecks], { features: ["permissions"] }),
    suite("joining", joiningChecks),
  ];
}

function cutSuite({ livekit }: ClientUnderTest, open: (options: Options) => Promise<ClientTalk>): Suite<ClientTalk> {
  let line: CutLine | undefined;
  const cut = () => {
    if (!line) throw new KitFault("The connection to cut was not opened");
    line.cut();
  };
  return {
    name: "a cut line",
    checks: cutChecks(cut),
    open: async () => {
      if (!livekit.url.startsWith("ws://")) throw new NotApplicable("A TLS connection to LiveKit cannot be cut");
      line = await CutLine.open(livekit.url);
      const talk = await open({ clientUrl: line.url });
      talk.onClose(() => line?.[Symbol.asyncDispose]());
      return talk;
    },
  };
}
