import { existsSync } from "node:fs";
import { ensurePage, VITE } from "./ensure-page.ts";

// Before `npm start`. Where Vite is not installed, the worker serves the page that it was shipped with, or none.
if (existsSync(VITE)) await ensurePage();
