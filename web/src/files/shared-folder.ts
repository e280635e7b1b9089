import { watchedValue } from "../shared/watched-value.ts";
import type { Folder } from "./folder.ts";

const shared = watchedValue<Folder | undefined>(undefined);

/** The folder that the person shares. Not restored after a reload, because the browser requires a new choice. */
export const useSharedFolder = shared.use;

export const shareFolder = shared.set;
