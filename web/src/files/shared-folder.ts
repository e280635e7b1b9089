import { watchedValue } from "../shared/watched-value.ts";
import type { Folder } from "./folder.ts";

const shared = watchedValue<Folder | undefined>(undefined);

/** The folder that the person shares. It ends with the page: a browser asks anew after a reload. */
export const useSharedFolder = shared.use;

export const shareFolder = shared.set;
