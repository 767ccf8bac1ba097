type Query = <T>(sql: string, parameters?: readonly unknown[]) => Promise<T[]>;

/** Lets the database run statements of PL/pgSQL at an event, such as `BEFORE INSERT ON simcat.events FOR EACH ROW`. */
export async function createTrigger(query: Query, event: string, statements: string): Promise<void> {
  await query(`CREATE FUNCTION public.act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statements} END $$;
    CREATE TRIGGER act ${event} EXECUTE FUNCTION public.act()`);
}
