import { expect, test } from "vitest";
import { Channel } from "../src/async.ts";

test("hands over values of several producers in the order of their offers", async () => {
  const channel = new Channel<number>();
  const pushed = Promise.all([channel.push(1), channel.push(2), channel.push(3)]).then(() => channel.close());
  const values: number[] = [];
  for await (const value of channel) values.push(value);
  expect(values).toEqual([1, 2, 3]);
  await pushed;
});

test("a producer waits until its value is taken", async () => {
  const channel = new Channel<number>();
  const events: string[] = [];
  const producer = (async () => {
    for (const value of [1, 2]) {
      await channel.push(value);
      events.push(`taken ${value}`);
    }
    channel.close();
  })();
  for await (const value of channel) {
    await new Promise((resolve) => setImmediate(resolve));
    events.push(`done ${value}`);
  }
  await producer;
  expect(events).toEqual(["taken 1", "done 1", "taken 2", "done 2"]);
});

test("throws the error of its end after the values before it", async () => {
  const channel = new Channel<number>();
  void channel.push(1);
  channel.close(new Error("the service is down"));
  const values: number[] = [];
  const consume = async () => {
    for await (const value of channel) values.push(value);
  };
  await expect(consume()).rejects.toThrow("the service is down");
  expect(values).toEqual([1]);
});

test("a consumer that stops releases the producers that wait and those that come later", async () => {
  const channel = new Channel<number>();
  const pushed = [channel.push(1), channel.push(2), channel.push(3)];
  for await (const _ of channel) break;
  await expect(Promise.all([...pushed, channel.push(4)])).resolves.toHaveLength(4);
});
