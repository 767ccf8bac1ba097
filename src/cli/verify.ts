import { EXIT } from "../errors.ts";
import { formatJson } from "../format.ts";
import { openLog } from "../log.ts";
import { createProgressLine } from "../report/progress.ts";
import { createRunLog } from "../report/run-log.ts";
import { formatVerify, toVerifyJson } from "../report/verify.ts";
import { parseSelection } from "../sync/rules/selection.ts";
import { openTextReader } from "../sync/texts.ts";
import type { VerifyReport } from "../verify/findings.ts";
import { verifyStored } from "../verify/verify.ts";
import type { Context } from "./context.ts";
import { loadServiceSettings } from "./settings.ts";
import { withDatabase } from "./with-database.ts";
import { withService } from "./with-service.ts";

export interface VerifyOptions {
  readonly library: readonly string[];
  readonly owner: readonly string[];
  readonly json: boolean;
}

/** Whether the database says what the service says. Takes no lease and writes nothing. */
export async function verify(context: Context, { library, owner, json }: VerifyOptions): Promise<number> {
  const report = await compareSides(context, { library, owner });
  const exitCode = report.agrees ? EXIT.ok : EXIT.partial;
  const { isOut, columns } = context.terminal;
  // What goes into a file or a pipe is not cut.
  const width = isOut ? columns : Number.POSITIVE_INFINITY;
  context.print(json ? formatJson(toVerifyJson(report, exitCode)) : formatVerify(report, width));
  return exitCode;
}

async function compareSides(context: Context, { library, owner }: Omit<VerifyOptions, "json">): Promise<VerifyReport> {
  const { terminal, draw, mask, stop } = context;
  const selection = parseSelection(library, owner);
  const config = loadServiceSettings(context);
  const lines = createRunLog(openLog(config, terminal.isErr, draw, mask));
  const screen = terminal.isErr ? { columns: terminal.columns, draw } : null;
  const { event: onEvent, end } = createProgressLine(screen, lines.progress);
  const texts = openTextReader(config.serviceTimezone);
  try {
    return await withDatabase(context, config, "require", (pool) =>
      withService(context, config, {}, (service) =>
        verifyStored({ service, pool, texts, onEvent, concurrency: config.concurrency }, selection, stop),
      ),
    );
  } finally {
    end();
  }
}
