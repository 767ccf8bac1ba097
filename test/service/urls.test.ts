import { describe, expect, it } from "vitest";
import { basePath, contentPaths, encodeSegment, listingPath } from "../../src/service/urls.ts";

describe("encodeSegment", () => {
  it.each([
    ["%2e%2e", "%252e%252e"],
    ["a%2Fb", "a%252Fb"],
    ["a/b", "a%2Fb"],
    ["...", "..."],
    [" lead", "%20lead"],
    ["trail ", "trail%20"],
    ["🌲🔥", "%F0%9F%8C%B2%F0%9F%94%A5"],
    ["'()*!", "%27%28%29%2A%21"],
    ["Q1/Q2 50% done #3?x=1&y=2", "Q1%2FQ2%2050%25%20done%20%233%3Fx%3D1%26y%3D2"],
    ["name\nERROR", "name%0AERROR"],
    ["مكتبة", "%D9%85%D9%83%D8%AA%D8%A8%D8%A9"],
    ["a+b;c,d:e@f=g$h", "a%2Bb%3Bc%2Cd%3Ae%40f%3Dg%24h"],
    ["A-z_0.~", "A-z_0.~"],
  ])("encodes %j as %s, which decodes to the exact name", (name, segment) => {
    expect(encodeSegment(name)).toBe(segment);
    expect(decodeURIComponent(segment)).toBe(name);
  });
});

describe("the paths", () => {
  it.each([
    ["https://service.test", "/libs"],
    ["https://service.test/", "/libs"],
    ["https://service.test/v1", "/v1/libs"],
    ["https://service.test/v1/", "/v1/libs"],
    ["https://service.test/api/v1//", "/api/v1/libs"],
  ])("of the base %s resolve to %s", (base, path) => {
    expect(listingPath(basePath(new URL(base)))).toBe(path);
  });

  it("encode owner and name as one segment each", () => {
    const key = { owner: "a/b", name: ".c" };
    expect(contentPaths("/v1", key)).toEqual({
      library: "/v1/libs/user/a%2Fb/.c",
      metadata: "/v1/libs/user/a%2Fb/.c/metadata",
      scenarios: "/v1/libs/user/a%2Fb/.c/scenarios",
    });
  });
});
