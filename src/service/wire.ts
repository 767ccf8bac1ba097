export { UntrustedAnswer } from "./untrusted-answer.ts";
export { type ListingReader, readListing } from "./wire-listing.ts";
export { readMetadata } from "./wire-metadata.ts";
export { readScenarios, type ScenarioListReader } from "./wire-scenarios.ts";
