import type { Form, FormAnswer } from "@parley/client/forms";
import { ObservableStore } from "./observable-store.ts";

/** A form waiting for this participant. */
export interface OpenForm extends Form {
  /** The id of the form's call. */
  readonly id: string;
  /** Only the first answer counts. */
  readonly answer: (answer: FormAnswer) => void;
}

interface Shown {
  readonly callId: string;
  readonly signal: AbortSignal;
}

/** The forms waiting for this participant, oldest first. */
export class FormList extends ObservableStore {
  #open: readonly OpenForm[] = [];

  /** The same array object until a form is added or removed. */
  get open(): readonly OpenForm[] {
    return this.#open;
  }

  /** Shows a form and resolves with its answer. Rejects and removes the form when the signal aborts. */
  readonly show = async (form: Form, { callId: id, signal }: Shown): Promise<FormAnswer> => {
    const { promise, resolve, reject } = Promise.withResolvers<FormAnswer>();
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    const open: OpenForm = { ...form, id, answer: resolve };
    this.#set([...this.#open, open]);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#set(this.#open.filter((each) => each !== open));
    }
  };

  /** Cancels all forms. Call this when the forms are no longer displayed. */
  cancelAll(): void {
    for (const { answer } of this.#open) answer({ action: "cancel" });
  }

  #set(open: readonly OpenForm[]): void {
    this.#open = open;
    this.changed();
  }
}
