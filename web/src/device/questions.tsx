import { type ReactNode, useState } from "react";
import { closeNotice, useShown } from "./notices.ts";

/** What tools show on this page, and what they ask. */
export function Questions(): ReactNode {
  const { notices, questions } = useShown();
  return (
    <div className="shown">
      <div role="status">
        {notices.map(({ id, message }) => (
          <p key={id} className="notice">
            <span>{message}</span>
            <button type="button" onClick={() => closeNotice(id)} aria-label={`Close: ${message}`}>
              Close
            </button>
          </p>
        ))}
      </div>
      {questions.map(({ id, question, choices, answer }) => (
        <AskForm key={id} question={question} choices={choices} onAnswer={answer} />
      ))}
    </div>
  );
}

interface AskFormProps {
  readonly question: string;
  readonly choices: readonly string[];
  readonly onAnswer: (text: string) => void;
}

function AskForm({ question, choices, onAnswer }: AskFormProps): ReactNode {
  const [text, setText] = useState("");
  return (
    <form
      className="ask"
      aria-label="The agent asks"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onAnswer(text.trim());
      }}
    >
      <p role="alert">{question}</p>
      {choices.length > 0 ? (
        <p className="row">
          {choices.map((choice) => (
            <button type="button" key={choice} onClick={() => onAnswer(choice)}>
              {choice}
            </button>
          ))}
        </p>
      ) : (
        <p className="row">
          <input aria-label="Your answer" value={text} onChange={(event) => setText(event.target.value)} />
          <button className="primary">Answer</button>
        </p>
      )}
    </form>
  );
}
