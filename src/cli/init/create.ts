#!/usr/bin/env node
// The package create-parley: npm create parley my-agent
import { initCommand } from "./init-command.ts";

await initCommand("npm create parley", process.argv.slice(2));
