import { type ReactNode, useState } from "react";
import { Switch } from "../shared/switch.tsx";
import { setNotifies, useNotifies } from "../shared/notify.ts";
import { Problem } from "../shared/problem.tsx";
import { useWords } from "../shared/words/words.ts";

/** Whether to be notified when the agent waits while the tab is in the background. */
export function NotifyChoice(): ReactNode {
  const { settings: words } = useWords();
  const isOn = useNotifies();
  const [isRefused, setRefused] = useState(false);
  return (
    <section>
      <h3>{words.background}</h3>
      <Switch
        isOn={isOn}
        title={words.notify}
        hint={words.notifyHint}
        onChange={(wanted) => void setNotifies(wanted).then((worked) => setRefused(!worked))}
      />
      <Problem text={isRefused ? words.notifyRefused : undefined} />
    </section>
  );
}
