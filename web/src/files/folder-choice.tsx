import { type ReactNode, useRef, useState } from "react";
import { DeviceSwitch } from "../device/device-switch.tsx";
import { setSwitch } from "../device/switches.ts";
import { toVisible } from "../shared/exact-json.ts";
import { type Folder, fromFiles, hasPicker, pickFolder } from "./folder.ts";
import { shareFolder, useSharedFolder } from "./shared-folder.ts";
import { Problem } from "../shared/problem.tsx";

/** Lets the person choose a folder on this device for the agent to read. */
export function FolderChoice(): ReactNode {
  const folder = useSharedFolder();
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const share = (picked: Folder | undefined) => {
    if (!picked) return;
    setSwitch("read_local_file", true);
    setSwitch("list_local_files", true);
    shareFolder(picked);
  };
  const choose = () => {
    setProblem(undefined);
    if (!hasPicker()) return input.current?.click();
    pickFolder().then(share, () => setProblem("This folder cannot be shared. Choose another one."));
  };
  return (
    <section>
      <h3>Folder on this device</h3>
      <p className="hint">
        {folder ? (
          <>
            Shared: <strong>{toVisible(folder.name)}</strong>. The agent can read what is in it, and cannot change
            anything.
          </>
        ) : (
          "Choose a folder to let the agent read it."
        )}
      </p>
      <Problem text={problem} />
      <p className="row">
        <button type="button" onClick={choose}>
          {folder ? "Choose another" : "Choose a folder"}
        </button>
        {folder && (
          <button type="button" onClick={() => shareFolder(undefined)}>
            Stop sharing
          </button>
        )}
      </p>
      <input
        ref={(element) => {
          input.current = element;
          if (element) element.webkitdirectory = true;
        }}
        type="file"
        hidden
        aria-label="Folder"
        onChange={({ target: { files } }) => share(fromFiles([...(files ?? [])]))}
      />
      {folder && (
        <ul className="rows">
          <DeviceSwitch tool="read_local_file" title="Read files" hint="Text files in this folder, up to 256 kB each" />
          <DeviceSwitch
            tool="list_local_files"
            title="List files"
            hint="The names of files and folders in this folder"
          />
        </ul>
      )}
    </section>
  );
}
