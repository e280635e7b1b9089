import { AppError } from "../../errors/app-error.ts";
import { MESSAGE_LIMITS } from "../limits.ts";

export const malformed = (message: string): AppError => new AppError("malformed", message);
export const tooLarge = (message: string): AppError => new AppError("too_large", message);
export const tooLong = (): AppError => tooLarge(`The envelope is over ${MESSAGE_LIMITS.envelopeBytes} bytes`);
export const tooDeep = (): AppError => tooLarge(`The packet is nested over ${MESSAGE_LIMITS.depth} deep`);
export const tooMany = (): AppError => tooLarge(`The packet has over ${MESSAGE_LIMITS.values} values`);
export const tooManyKeys = (): AppError =>
  tooLarge(`The packet has over ${MESSAGE_LIMITS.differentKeys} different keys`);
