import { existsSync } from "node:fs";
import { ensurePage, VITE } from "./ensure-page.ts";

// Runs before `npm start`. If Vite is not installed, the worker serves the page from its package, if there is one.
if (existsSync(VITE)) await ensurePage();
