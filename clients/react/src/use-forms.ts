import { askUserTool } from "@parley/client/forms";
import { useEffect, useState } from "react";
import { useTalkClient } from "./parley-provider.tsx";
import { FormList, type OpenForm } from "./store/form-list.ts";
import { useWatched } from "./use-watched.ts";

/**
 * Returns the forms waiting for this participant, oldest first. Offers the tool `ask_user` while the component is
 * mounted. Unmounting cancels the open forms.
 *
 * @example
 * const forms = useForms();
 * return forms.map((form) => <MyForm key={form.id} form={form} />);
 */
export function useForms(): readonly OpenForm[] {
  const client = useTalkClient();
  const [forms] = useState(() => new FormList());
  useEffect(() => {
    const withdraw = client.offer(askUserTool(forms.show));
    return () => {
      withdraw();
      forms.cancelAll();
    };
  }, [client, forms]);
  return useWatched(forms.subscribe, () => forms.open);
}
