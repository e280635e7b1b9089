import { type ReactNode, useState } from "react";
import { Switch } from "../shared/switch.tsx";
import { setNotifies, useNotifies } from "../shared/notify.ts";
import { Problem } from "../shared/problem.tsx";

const REFUSED =
  "The browser does not let this page show notifications. Allow them next to the address, then try again.";

/** Whether to be notified when the agent waits while the tab is in the background. */
export function NotifyChoice(): ReactNode {
  const isOn = useNotifies();
  const [isRefused, setRefused] = useState(false);
  return (
    <section>
      <h3>In the background</h3>
      <Switch
        isOn={isOn}
        title="Tell me when the agent waits"
        hint="A notification of the browser, while this tab is not visible"
        onChange={(wanted) => void setNotifies(wanted).then((worked) => setRefused(!worked))}
      />
      <Problem text={isRefused ? REFUSED : undefined} />
    </section>
  );
}
