"""Tools as servers write them, with the effect that a careful reviewer would assign.

A line: effect | name | description | parameters. The names of the first group are those of servers that many people
run; every description is ours.
"""

from typing import Any

LINES = """
read | read_file | Gives the text of one file. | path
read | read_multiple_files | Reads several files at once. | paths
read | list_directory | Shows what a folder holds. | path
read | directory_tree | Returns a folder and everything below it as a tree. | path
read | search_files | Finds files by a pattern. | path pattern
read | get_file_info | Size, owner and times of one file. | path
read | list_allowed_directories | Tells which folders this server may use. |
write | create_directory | Makes a folder, with its parents. | path
write | edit_file | Changes lines of a text file. | path edits
write | move_file | Gives a file another place or name. | source destination
destructive | write_file | Writes a file, and overwrites one that is there. | path content
read | git_status | Shows what changed in the working tree. | repo_path
read | git_diff | Shows the difference between two commits. | repo_path target
read | git_log | Shows the last commits. | repo_path max_count
read | git_show | Shows one commit. | repo_path revision
write | git_add | Stages files. | repo_path files
write | git_commit | Commits what is staged. | repo_path message
write | git_create_branch | Makes a branch. | repo_path branch_name
write | git_checkout | Goes to another branch. | repo_path branch_name
destructive | git_reset | Takes everything out of the stage. | repo_path
read | get_current_time | The time in a zone. | timezone
read | fetch | Fetches a page and gives it as text. | url max_length
read | search_nodes | Looks for nodes by a word. | query
read | read_graph | Returns the whole graph. |
write | create_entities | Adds entities to the graph. | entities
write | add_observations | Adds what was observed to entities. | observations
destructive | delete_entities | Deletes entities with all their relations. | entityNames
destructive | delete_relations | Takes relations out of the graph. | relations
read | get_issue | One issue with its fields. | owner repo issue_number
read | list_commits | The commits of a branch. | owner repo sha
read | search_code | Searches code in all repositories. | q
read | pull_request_read | Gets one pull request, its files or its reviews. | method owner repo
write | create_issue | Opens an issue. | owner repo title body
write | update_issue | Changes an issue. | owner repo issue_number
write | add_issue_comment | Comments on an issue. | owner repo body
write | create_pull_request | Opens a pull request. | title head base
write | merge_pull_request | Merges a pull request. | pullNumber
write | fork_repository | Forks a repository into your account. | owner repo
write | create_or_update_file | Writes one file in a repository. | path content message
destructive | delete_file | Deletes a file from a repository. | path message
read | browser_snapshot | Gives the tree of what is on the page. |
read | browser_take_screenshot | Takes a picture of the page. | filename
write | browser_click | Clicks on an element. | element ref
write | browser_type | Types text into a field. | element text
write | browser_navigate | Goes to a URL. | url
write | browser_file_upload | Uploads files. | paths
destructive | browser_evaluate | Evaluates a function on the page. | function
write | browser_fill_form | Fills in several fields. | fields
write | browser_press_key | Presses a key. | key
read | slack_list_channels | Lists channels. | limit cursor
read | slack_get_channel_history | Gets the last messages of a channel. | channel_id
write | slack_post_message | Posts a message to a channel. | channel_id text
write | slack_reply_to_thread | Replies in a thread. | thread_ts text
write | slack_add_reaction | Adds a reaction. | reaction
destructive | execute_sql | Executes SQL in the project's database. | project_id query
destructive | apply_and_drop_migration | Applies a migration and drops the old tables. | name
read | list_tables | Lists tables of the schemas. | schemas
read | list_projects | Lists all projects. |
write | pause_project | Pauses a project. | project_id
read | notion-search | Searches pages. | query
write | notion-create-pages | Creates pages. | pages
write | notion-update-page | Updates a page. | page_id
read | API-retrieve-a-page | Retrieve a page | page_id
write | API-post-page | Create a page | parent properties
destructive | API-delete-a-block | Delete a block | block_id
read | brave_web_search | Searches the web. | query count
read | get-library-docs | Gets documentation of a library. | topic
read | kubectl_get | Gets resources of a cluster. | resourceType
destructive | kubectl_delete | Deletes resources of a cluster. | resourceType name
write | kubectl_apply | Applies a manifest. | manifest
write | send_email | Sends a letter to somebody. | to subject body
read | list_events | Lists events of a calendar. | calendarId
write | create_event | Creates an event. | calendarId
destructive | delete_event | Deletes an event. | eventId
destructive | cancel_subscription | Cancels a customer's subscription. | subscription
destructive | create_refund | Refunds a payment: money goes back and this cannot be undone. | payment_intent
destructive | run_command | Runs a command in the terminal. | command
destructive | bash | A shell that keeps its state. | command restart
destructive | python_repl | Runs what it is given. | script
destructive | evaluateCode | Evaluates JavaScript in a sandbox. | source

read | weatherForCity | Returns today's weather. | city
read | lookup_customer | A customer by number. | id
read | summarizeThread | Summarizes a discussion. | thread_id
read | count-orders | Counts open orders. | since
read | getOrder | One order with its lines. | id
read | list_deployments | All deployments, newest first. | project
read | find_available_rooms | Rooms that are free on a day. | day
read | calculate_route | Computes the fastest way. | from to
read | stock_price | Gets the last price of a share. | symbol
read | validate_address | Checks whether an address exists. | street city
read | compareVersions | Compares two versions of a document. | left right
read | translate_text | Translates between languages. | text target
read | kundensuche | Sucht Kunden nach Namen. | name
read | inventaire | Affiche les articles en stock. | magasin
read | pedidos | Muestra los pedidos de un cliente. | cliente
read | weather_cn | 获取城市的天气。 | city
read | kensaku | 文書を検索します。 | query
write | add_to_cart | Puts an article into the basket. | article
write | bookRoom | Books a room for a day. | room day
write | assign-ticket | Gives a ticket to somebody. | ticket user
write | enableFeature | Turns a feature on. | feature
write | restart_service | Starts a service anew. | service
write | rechnung | Erstellt eine neue Rechnung. | kunde
write | facture | Ajoute une ligne à la facture. | ligne
write | nota | Envía una nota al cliente. | texto
write | note_cn | 创建一条笔记。 | text
write | memo | メモを作成します。 | text
write | frobnicate | Frobnicates the given widget. | widget
write | sync_contacts | Brings two address books together. | source
write | get_or_create_user | Finds a user, or creates one. | email
write | loadSettings | Loads settings from a text. | text
write | turn_on_lamp | Switches a lamp on. | lamp
write | upload-image | Uploads an image. | image
destructive | wipeDevice | Takes a device back to how it was delivered. | device
destructive | purge-cache | Empties the cache. | zone
destructive | drop_table | Drops a table. | table
destructive | dropdatabase | Takes a database away. | name
destructive | kill_process | Ends a process. | pid
destructive | bulkRemoval | Handles many users at once. | users
destructive | list_and_delete_old_files | Lists old files and deletes them. | days
destructive | get_delete | Gets an entry and takes it out. | id
destructive | revokeToken | Makes a token worthless. | token
destructive | transfer_funds | Moves money between accounts. | from to amount
destructive | uninstall_app | Takes an app off a device. | app
destructive | restore_backup | Puts a backup over the database. | backup
destructive | aufräumen | Löscht alle alten Einträge. | tage
destructive | menage | Supprime les fichiers temporaires. | dossier
destructive | limpieza | Elimina los registros antiguos. | dias
destructive | cleanup_cn | 删除所有旧文件。 | days
destructive | 整理 | 古いファイルを削除します。 | days
destructive | archive_mailbox | Archives a mailbox. The letters in it are permanently gone from the server. | user
destructive | save_record | Saves a record. | record force
destructive | replace_rows | Replaces rows. | rows sql
"""


def tools() -> list[tuple[str, dict[str, Any]]]:
    """Each effect with its tool."""
    found = []
    for line in filter(str.strip, LINES.splitlines()):
        effect, name, description, parameters = (part.strip() for part in line.split("|"))
        properties = {each: {"type": "string"} for each in parameters.split()}
        schema = {"type": "object", "properties": properties}
        found.append((effect, {"name": name, "description": description, "inputSchema": schema}))
    return found
