import { existsSync } from "node:fs";
import { ensurePage, VITE } from "./ensure-page.ts";

// Runs before `npm start`. Where Vite is not installed, the worker serves the page that came with it, or none.
if (existsSync(VITE)) await ensurePage();
