import { PALETTE } from "./palette.ts";

/** The charts' letters, in the charting library's words. */
export const FONT = { color: PALETTE.ink, fontSize: 12, fontFamily: "sans-serif" };

/** Those that stand back: units, ticks. */
export const SOFT = { ...FONT, color: PALETTE.soft };
