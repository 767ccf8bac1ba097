import { expect, it } from "vitest";
import { openCongestion } from "../../src/service/http/congestion.ts";

function succeed(times: number, congestion: ReturnType<typeof openCongestion>): number {
  for (let i = 0; i < times; i++) congestion.succeeded();
  return congestion.limit();
}

it("starts slowly and grows by one with every success, up to the maximum", () => {
  const congestion = openCongestion(16, 500);
  expect(congestion.limit()).toBe(4);
  expect(succeed(11, congestion)).toBe(15);
  expect(succeed(1, congestion)).toBe(16);
  expect(succeed(99, congestion)).toBe(16);
});

it("starts no higher than the maximum", () => {
  expect(openCongestion(2, 500).limit()).toBe(2);
  expect(openCongestion(1, 500).limit()).toBe(1);
});

it("is reduced by a quarter, at most once in half a second", () => {
  const congestion = openCongestion(16, 500);
  succeed(12, congestion);
  congestion.cut(1000);
  expect(congestion.limit()).toBe(12);
  congestion.cut(1499);
  expect(congestion.limit()).toBe(12);
  congestion.cut(1500);
  expect(congestion.limit()).toBe(9);
});

it("is never reduced below one", () => {
  const congestion = openCongestion(4, 500);
  for (let i = 0; i < 10; i++) congestion.cut(i * 500);
  expect(congestion.limit()).toBe(1);
});

it("grows by one for each full round after a reduction", () => {
  const congestion = openCongestion(16, 500);
  succeed(12, congestion);
  congestion.cut(0);
  expect(succeed(11, congestion)).toBe(12);
  expect(succeed(1, congestion)).toBe(13);
  expect(succeed(12, congestion)).toBe(13);
  expect(succeed(1, congestion)).toBe(14);
});

it("restarts slowly after a pause, up to the value at which it was reduced", () => {
  const congestion = openCongestion(16, 500);
  succeed(12, congestion);
  congestion.cut(0);
  congestion.slowStart();
  expect(congestion.limit()).toBe(4);
  expect(succeed(8, congestion)).toBe(12);
  expect(succeed(11, congestion)).toBe(12);
});
