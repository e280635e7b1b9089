import { type ReactNode, useRef, useState } from "react";
import { DeviceSwitch } from "../device/device-switch.tsx";
import { setSwitch } from "../device/switches.ts";
import { toVisible } from "../shared/exact-json.ts";
import { type Folder, fromFiles, hasPicker, pickFolder } from "./folder.ts";
import { shareFolder, useSharedFolder } from "./shared-folder.ts";
import { Problem } from "../shared/problem.tsx";
import { useWords } from "../shared/words/words.ts";

/** Lets the person choose a folder on this device for the agent to read. */
export function FolderChoice(): ReactNode {
  const { settings: words } = useWords();
  const folder = useSharedFolder();
  const [isRefused, setRefused] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const share = (picked: Folder | undefined) => {
    if (!picked) return;
    setSwitch("read_local_file", true);
    setSwitch("list_local_files", true);
    shareFolder(picked);
  };
  const choose = () => {
    setRefused(false);
    if (!hasPicker()) return input.current?.click();
    pickFolder().then(share, () => setRefused(true));
  };
  return (
    <section>
      <h3>{words.folder}</h3>
      <p className="hint">{folder ? words.sharedFolder(toVisible(folder.name)) : words.noFolder}</p>
      <Problem text={isRefused ? words.folderRefused : undefined} />
      <p className="row">
        <button type="button" onClick={choose}>
          {folder ? words.chooseAnother : words.chooseFolder}
        </button>
        {folder && (
          <button type="button" onClick={() => shareFolder(undefined)}>
            {words.stopSharing}
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
        onChange={({ target: { files } }) => share(fromFiles([...(files ?? [])]))}
      />
      {folder && (
        <ul className="rows">
          <DeviceSwitch tool="read_local_file" />
          <DeviceSwitch tool="list_local_files" />
        </ul>
      )}
    </section>
  );
}
