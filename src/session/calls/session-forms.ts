import { parentCallId, type Call } from "../../conversation/call.ts";
import { fillInForm } from "../../tool/calls/fill-in-form.ts";
import { cancelCall } from "../../tool/calls/end-call.ts";
import type { OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallPorts, CallTurn } from "../../tool/calls/call-ports.ts";
import type { Elicitation, Elicited } from "../../tool/define-tool.ts";
import type { WordedForms } from "../forms/worded-forms.ts";

interface SessionFormsOptions {
  readonly ports: () => CallPorts;
  readonly worded: Pick<WordedForms, "ask">;
  /** How long to wait for the answer to a question asked in words. */
  readonly waitMs: number;
  /** The turn of a call, while something can still be spoken or shown in it. */
  readonly turnOf: (call: OpenCall) => CallTurn | undefined;
}

/** The forms that a session's running calls ask participants to fill in. */
export class SessionForms {
  readonly #options: SessionFormsOptions;
  /** Forms, by id, that an earlier worker's calls had shown to a participant, answered or not. */
  readonly #inherited = new Map<string, Call>();

  constructor(options: SessionFormsOptions) {
    this.#options = options;
  }

  /** Adds the forms that an earlier worker left. A call that runs again continues with its forms. */
  keep(forms: readonly Call[]): void {
    for (const form of forms) this.#inherited.set(form.id, form);
  }

  elicit<Content>(call: OpenCall, request: Elicitation<Content>, index: number): Promise<Elicited<Content>> {
    const { ports, worded, waitMs, turnOf } = this.#options;
    const forms = {
      calls: ports(),
      waitMs,
      takeOpenForm: (formId: string) => this.#takeOpenForm(formId),
      askInWords: (...[form, asked]: Parameters<Parameters<typeof fillInForm>[2]["askInWords"]>) =>
        worded.ask(form, asked, () => turnOf(form)),
    };
    return fillInForm(call, { request, index }, forms);
  }

  /**
   * Call this when a call has ended. Withdraws the call's forms that an earlier worker left and the call did not
   * resume.
   */
  end({ id: callId }: Call): void {
    const ports = this.#options.ports();
    for (const form of this.#inherited.values()) {
      if (parentCallId(form) !== callId) continue;
      this.#inherited.delete(form.id);
      if (!form.outcome) cancelCall(ports.ledger.open(form), "superseded", ports);
    }
  }

  #takeOpenForm(formId: string): Call | undefined {
    const form = this.#inherited.get(formId);
    this.#inherited.delete(formId);
    return form;
  }
}
