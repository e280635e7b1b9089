import { memo, type ReactNode, useState } from "react";
import { toVisible } from "../../shared/exact-json.ts";
import { type LoggedEvent, useEventLog } from "./event-log.tsx";
import { useWords } from "../../shared/words/words.ts";

export function EventsPanel(): ReactNode {
  const { developer: words, copy: copyLabel } = useWords();
  const events = useEventLog();
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const shown = events.filter(({ type, json }) => `${type} ${json}`.toLowerCase().includes(wanted));
  const copy = () =>
    navigator.clipboard.writeText(shown.map(({ at, type, json }) => `${at} ${type} ${json}`).join("\n"));
  return (
    <section className="events">
      <div className="row">
        <label className="field grow">
          {words.filter}
          <input value={filter} onChange={(event) => setFilter(event.target.value)} placeholder="tool_call_state" />
        </label>
        <button type="button" onClick={() => void copy()}>
          {copyLabel}
        </button>
      </div>
      <p className="hint">{words.shownEvents(shown.length, events.length)}</p>
      <ol className="event-list">
        {shown.toReversed().map((event) => (
          <EventRow key={event.key} event={event} />
        ))}
      </ol>
    </section>
  );
}

/** Memoized, because there may be thousands of rows, and more arrive all the time. */
const EventRow = memo(function EventRow({ event: { at, type, json } }: { readonly event: LoggedEvent }): ReactNode {
  return (
    <li>
      <details>
        <summary>
          <time>{new Date(at).toISOString().slice(11, 23)}</time> <strong>{type}</strong>{" "}
          <span className="event-json">{toVisible(json.slice(0, 80))}</span>
        </summary>
        <pre tabIndex={0} aria-label={type}>
          {toVisible(json)}
        </pre>
      </details>
    </li>
  );
});
